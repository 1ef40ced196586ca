/** Flow control of functions, as their `meta` declares it. Durations in milliseconds. */
import type { Draws } from "../Draws.ts"

type Rate = {
  readonly limit: number
  readonly period: number
  readonly key?: string
}

/** A type and not an interface, because it is JSON. */
export type Control = {
  readonly ttl?: number
  readonly dedupe?: { readonly key: string; readonly window: number }
  readonly rateLimit?: Rate
  readonly throttle?: Rate
  readonly debounce?: { readonly period: number; readonly max?: number; readonly key?: string }
  readonly singleton?: { readonly key?: string; readonly mode?: "cancel" }
  readonly batch?: { readonly size: number; readonly timeout: number; readonly key?: string }
  readonly priority?: number | string
  readonly cancelOn?: { readonly event: string; readonly match: string }
}

/** The key of a job. A call by name has it in its argument. */
const key = "has(event.data.key) ? event.data.key : event.data.args[0].key"

const drawKeyed = (draws: Draws): { readonly key?: string } => (draws.chance(0.6) ? { key } : {})

const drawRate = (draws: Draws): Rate => ({
  limit: draws.between(1, 4),
  period: draws.pick([500, 2_000, 6_000]),
  ...drawKeyed(draws)
})

const kinds = ["rateLimit", "dedupe", "debounce", "singleton", "priority"] as const

/** Returns one or two controls that may be combined. */
export const drawControl = (draws: Draws): Control => {
  const start: Control = {
    ...(draws.chance(0.4) ? { throttle: drawRate(draws) } : {}),
    ...(draws.chance(0.2) ? { ttl: draws.pick([1_000, 20_000]) } : {})
  }
  const period = draws.pick([300, 4_000, 15_000])
  switch (draws.pick(kinds)) {
    case "rateLimit":
      return { ...start, rateLimit: drawRate(draws) }
    case "dedupe":
      return { ...start, dedupe: { key, window: draws.pick([1_000, 20_000]) } }
    case "debounce":
      return { ...start, debounce: { period, ...(draws.chance(0.5) ? { max: 3 * period } : {}), ...drawKeyed(draws) } }
    case "singleton":
      return { ...start, singleton: drawKeyed(draws) }
    case "priority":
      return { ...start, priority: draws.pick([0, 5, 600]) }
  }
}

/** Returns the control with a batch in place of what may not be combined with it. */
export const drawBatch = (
  draws: Draws,
  { debounce: _, singleton: __, cancelOn: ___, ttl, ...others }: Control
): Control => {
  const timeout = draws.pick([1_000, 4_000, 15_000])
  return {
    ...others,
    ...(ttl === undefined || ttl <= timeout ? {} : { ttl }),
    batch: { size: draws.between(1, 5), timeout, ...drawKeyed(draws) }
  }
}

/** Returns the control with cancellations: a singleton may cancel, and events of the first function may cancel runs. */
export const drawCancellation = (draws: Draws, control: Control): Control => {
  const cancels = draws.chance(0.5)
  const isCancelled = draws.chance(0.3) && control.debounce === undefined
  return {
    ...control,
    ...(control.singleton !== undefined && cancels ? { singleton: { ...control.singleton, mode: "cancel" } } : {}),
    ...(isCancelled ? { cancelOn: { event: "job:0", match: key } } : {})
  }
}
