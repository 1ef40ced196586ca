/**
 * Names of the calls at which a server may crash. A journal commit has a name for each kind of entry. Results, waits,
 * suspensions and ends of durable runs have names of their own. So each of these writes is a point.
 */
import type { ClaimResult, Delivery, JournalEntry, WaitRecord } from "@weft/core/adapter"

/** Returns the names of a call by its first argument. */
export const nameCall = (method: string, argument: unknown): ReadonlyArray<string> => {
  if (Array.isArray(argument)) {
    const names = new Set(argument.filter(isEntry).flatMap(nameEntry))
    return names.size === 0 ? [method] : [...names].map((name) => `${method} ${name}`)
  }
  const durable = isAdmission(argument) ? argument.deliveries.map(({ delivery }) => delivery).filter(isDurable) : []
  return durable.length === 0 ? [method] : durable.map(({ var: name }) => `${method} of durable ${name}`)
}

/** Returns the names of a call that claimed deliveries of durable functions; empty for other results. */
export const nameResult = (method: string, result: unknown): ReadonlyArray<string> => {
  const claimed = isClaimResult(result) ? result.claims.filter(({ delivery }) => isDurable(delivery)) : []
  return [...new Set(claimed.map(({ delivery }) => `${method} ${describeClaim(delivery)}`))]
}

/** True if the call had no effect, such as the empty claim of an idle node. */
export const isEmptyResult = (result: unknown): boolean =>
  Array.isArray(result) ? result.length === 0 : isClaimResult(result) && result.claims.length === 0

const describeClaim = ({ var: name, continues }: Delivery): string =>
  `of durable ${name}${continues === null ? "" : ", continued"}`

const nameEntry = (entry: JournalEntry): ReadonlyArray<string> => {
  switch (entry._tag) {
    case "Appended": {
      const durable = entry.deliveries.filter(({ delivery }) => isDurable(delivery))
      return durable.length === 0 ? ["Appended"] : durable.map(({ delivery }) => `Appended of durable ${delivery.var}`)
    }
    case "Settled":
    case "Ended":
      return [
        entry.run.activations === null ? entry._tag : `${entry._tag} of durable ${entry.run.var} as ${entry.run.status}`
      ]
    case "Advanced":
      return nameProgress(entry)
    default:
      return [entry._tag]
  }
}

type Advanced = Extract<JournalEntry, { readonly _tag: "Advanced" }>

const nameProgress = ({ run, steps, waits, suspension }: Advanced): ReadonlyArray<string> => {
  const of = `durable ${run.var}`
  return [
    ...steps.map(({ kind, name }) => `Advanced with result of ${kind} ${name} of ${of}`),
    ...waits.map((wait) => `Advanced with wait for ${describeWait(wait)} of ${of}`),
    ...(suspension === null ? [] : [`Suspended, ${describeSuspension(suspension.waiting)}, of ${of}`])
  ]
}

/** A wait for a step is the pause before its next attempt. */
const describeWait = ({ kind, name, attempts }: WaitRecord): string =>
  kind === "step" ? `attempt ${attempts + 1} at ${name}` : `${kind} ${name}`

/** Returns the wait of a suspended run that ends first. */
const describeSuspension = (waiting: string): string => {
  const { for: kind, name }: { readonly for: string; readonly name: string } = JSON.parse(waiting)
  return `waiting for ${kind} ${name}`
}

const isDurable = ({ durable }: Delivery): boolean => durable

const entryTags: ReadonlySet<unknown> = new Set(["Appended", "Started", "Ended", "Settled", "Advanced"])

const isEntry = (value: unknown): value is JournalEntry => hasField(value, "_tag") && entryTags.has(value._tag)

interface Admission {
  readonly deliveries: ReadonlyArray<{ readonly delivery: Delivery }>
}

/** True for admissions. */
const isAdmission = (value: unknown): value is Admission => hasField(value, "deliveries") && hasField(value, "request")

const isClaimResult = (value: unknown): value is ClaimResult => hasField(value, "claims") && Array.isArray(value.claims)

const hasField = <Name extends string>(value: unknown, name: Name): value is Readonly<Record<Name, unknown>> =>
  typeof value === "object" && value !== null && name in value
