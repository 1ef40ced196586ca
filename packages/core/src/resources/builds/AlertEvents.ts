/** Events about alert rules. Functions handle them like events of their own. */

export const alertEventTypes = { fired: "svc:alert:fired", resolved: "svc:alert:resolved" } as const

const types: ReadonlySet<string> = new Set(Object.values(alertEventTypes))

/** True if the type is that of an event about alert rules. */
export const isAlertEvent = (type: string): boolean => types.has(type)
