/**
 * Plans of durable functions: the requests that a function makes, as data of its event.
 *
 * A new kind of request needs a member here with its draw, its call in `Flow.ts`, and its rules in `RequestRules.ts`.
 */
import type { Draws } from "../Draws.ts"

export type Request =
  /** A step whose body takes `takes` milliseconds and throws in its first `fails` attempts. */
  | { readonly kind: "step"; readonly takes: number; readonly fails: number }
  | { readonly kind: "sleep"; readonly ms: number }
  /** A wait for a signal with this key. A null `timeout` is no timeout. */
  | { readonly kind: "event"; readonly key: string; readonly timeout: number | null; readonly fromStart: boolean }
  /** Branches that run side by side. */
  | { readonly kind: "all"; readonly branches: ReadonlyArray<Plan> }

/** Requests that a function makes one after another. */
export type Plan = ReadonlyArray<Request>

/** Metadata of a durable function. Delays in milliseconds. */
export interface FlowRules {
  readonly attempts: number
  readonly delay: number
  /** Timeout of the whole run. */
  readonly timeout: number
  /** Maximum active runs; null for no limit. */
  readonly limit: number | null
}

/** Keys of signals. */
const keys = ["a", "b", "c", "d"] as const

export const drawKey = (draws: Draws): string => draws.pick(keys)

export const drawFlowRules = (draws: Draws): FlowRules => ({
  attempts: draws.between(1, 4),
  delay: draws.pick([0, 300, 3_000, 20_000]),
  timeout: draws.pick([30_000, 300_000, 300_000, 300_000]),
  limit: draws.chance(0.4) ? draws.between(1, 2) : null
})

export const drawPlan = (draws: Draws, depth = 0): Plan =>
  Array.from({ length: draws.between(1, depth === 0 ? 5 : 2) }, () => drawRequest(draws, depth))

const drawRequest = (draws: Draws, depth: number): Request => {
  const kind = draws.share()
  if (kind < 0.4) {
    const fails = draws.chance(0.3) ? draws.between(1, 4) : 0
    return { kind: "step", takes: draws.pick([0, 0, 20, 400, 3_000, draws.chance(0.2) ? 40_000 : 100]), fails }
  }
  if (kind < 0.6) return { kind: "sleep", ms: draws.pick([0, 5, 300, 990, 1_010, 5_000, 60_000]) }
  if (kind < 0.85) {
    const timeout = draws.pick([null, 500, 2_000, 10_000, 45_000])
    return { kind: "event", key: drawKey(draws), timeout, fromStart: draws.chance(0.2) }
  }
  if (depth > 1) return { kind: "sleep", ms: 700 }
  return { kind: "all", branches: Array.from({ length: draws.between(2, 3) }, () => drawPlan(draws, depth + 1)) }
}

/** A request with its name, which is unique in its plan. */
export type NamedRequest = Exclude<Request, { readonly kind: "all" }> & { readonly name: string }

/** Returns the requests of a plan by their names. */
export const nameRequests = (plan: Plan, prefix = ""): ReadonlyArray<NamedRequest> =>
  plan.flatMap((request, index) => {
    const name = nameOf(prefix, index)
    return request.kind === "all"
      ? request.branches.flatMap((branch, at) => nameRequests(branch, `${name}.${at}.`))
      : [{ ...request, name }]
  })

/** Returns the name of the request at an index of its plan. */
export const nameOf = (prefix: string, index: number): string => `${prefix}${index}`
