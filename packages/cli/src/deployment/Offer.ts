/** What a build offers: its triggers, each under the name by which people know it. */
import type { Manifest } from "@weft/core"

export const kinds = ["webhook", "handler", "schedule", "tool", "function"] as const
export type Kind = (typeof kinds)[number]

export interface Offered {
  readonly kind: Kind
  /** Unlike that of any other one of its kind: `POST /shop/price`, `order:created → main/onOrder`. */
  readonly name: string
  /** The function behind it, as `ns/var`. */
  readonly fn: string
  /** What else is declared, by the name of the field. */
  readonly terms: Readonly<Record<string, unknown>>
  /** When a schedule is due; null of anything else. */
  readonly due: Due | null
}

export interface Due {
  readonly cron: string
  readonly timezone: string
}

export type Offer = ReadonlyArray<Offered>

interface Declared {
  readonly ns: string
  readonly var: string
}

/** Functions that nothing sets off are there to be called: they are told under their own names. */
export const offerOf = (manifest: Manifest): Offer => {
  const triggered = [
    ...manifest.endpoints.map(({ method, service, path, ...rest }) =>
      offered("webhook", `${method} /${service}${path === "/" ? "" : path}`, rest)
    ),
    ...manifest.handlers.map(({ event_type, event_handler_id, ...rest }) =>
      offered("handler", `${event_type} → ${fnOf(rest)}`, rest)
    ),
    ...manifest.schedules.map(({ cron, timezone, schedule_id, ...rest }) =>
      offered("schedule", `${cron} (${timezone}) → ${fnOf(rest)}`, rest, { cron, timezone })
    ),
    ...manifest.tools.map(({ service, name, ...rest }) => offered("tool", `${service}/${name}`, rest))
  ]
  const behind = new Set(triggered.map(({ fn }) => fn))
  const called = manifest.functions
    .filter((fn) => !behind.has(fnOf(fn)))
    .map((entry) => offered("function", fnOf(entry), entry))
  return [...triggered, ...called]
}

const fnOf = (declared: Declared): string => `${declared.ns}/${declared.var}`

const offered = (
  kind: Kind,
  name: string,
  { ns, var: variable, ...terms }: Declared,
  due: Due | null = null
): Offered => ({
  kind,
  name,
  fn: `${ns}/${variable}`,
  terms: { ...terms },
  due
})
