/** The entry points of a build: its triggers under readable names, and its other functions. */
import type { Manifest } from "@weft/core/adapter"

export const kinds = ["webhook", "handler", "schedule", "tool", "resource", "prompt", "function"] as const
export type Kind = (typeof kinds)[number]

export interface EntryPoint {
  readonly kind: Kind
  /** Unique within its kind: `POST /shop/price`, `order:created → main/onOrder`. */
  readonly name: string
  /** The function behind it, as `ns/var`. */
  readonly fn: string
  /** The other declared settings, by field name. */
  readonly terms: Readonly<Record<string, unknown>>
  /** Times of a schedule; null for other kinds. */
  readonly due: Due | null
}

export interface Due {
  readonly cron: string
  readonly timezone: string
}

export type EntryPoints = ReadonlyArray<EntryPoint>

interface Declared {
  readonly ns: string
  readonly var: string
}

/** Lists the triggers of a manifest, then the functions without a trigger, which can only be called. */
export const listEntryPoints = (manifest: Manifest): EntryPoints => {
  const triggered = [
    ...manifest.endpoints.map(({ method, service, path, ...rest }) =>
      entryPoint("webhook", `${method} /${service}${path === "/" ? "" : path}`, rest)
    ),
    ...manifest.handlers.map(({ event_type, event_handler_id, ...rest }) =>
      entryPoint("handler", `${event_type} → ${functionName(rest)}`, rest)
    ),
    ...manifest.schedules.map(({ cron, timezone, schedule_id, ...rest }) =>
      entryPoint("schedule", `${cron} (${timezone}) → ${functionName(rest)}`, rest, { cron, timezone })
    ),
    ...manifest.tools.map(({ service, name, ...rest }) => entryPoint("tool", `${service}/${name}`, rest)),
    ...manifest.resources.map(({ service, uri, ...rest }) => entryPoint("resource", `${service}/${uri}`, rest)),
    ...manifest.prompts.map(({ service, name, ...rest }) => entryPoint("prompt", `${service}/${name}`, rest))
  ]
  const triggeredFunctions = new Set(triggered.map(({ fn }) => fn))
  const called = manifest.functions
    .filter((fn) => !triggeredFunctions.has(functionName(fn)))
    .map((entry) => entryPoint("function", functionName(entry), entry))
  return [...triggered, ...called]
}

const functionName = (declared: Declared): string => `${declared.ns}/${declared.var}`

const entryPoint = (
  kind: Kind,
  name: string,
  { ns, var: variable, ...terms }: Declared,
  due: Due | null = null
): EntryPoint => ({
  kind,
  name,
  fn: `${ns}/${variable}`,
  terms: { ...terms },
  due
})
