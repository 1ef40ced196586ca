/** An attack: guest code, the required end of its run, and the property that this proves. */
import type { Invocation, Outcome } from "@weft/core/adapter"

/** Everything that reached the host. */
export interface HostTraffic {
  readonly calls: ReadonlyArray<{ readonly op: string; readonly payload: string }>
  readonly lines: ReadonlyArray<string>
}

export interface Attack {
  readonly name: string
  /** The body of `async (event, svc)`; `home`, `ways` and `attempt` of the preamble are in scope. */
  readonly code: string
  /** Returns undefined if the run ended as required, otherwise the fault. */
  readonly checkOutcome: (outcome: Outcome) => string | undefined
  /** The same for everything that reached the host, until a while after the end. */
  readonly checkTraffic?: (traffic: HostTraffic) => string | undefined
  /** The property that this attack tests. */
  readonly proves: string
  readonly trigger?: Invocation["trigger"]
}

type OutcomeCheck = Attack["checkOutcome"]

const shown = (outcome: Outcome): string => JSON.stringify(outcome).slice(0, 300)

/** Requires that the run returns exactly this value. */
export const returns = (value: unknown): OutcomeCheck => {
  const expected = JSON.stringify(value)
  return (outcome) =>
    outcome._tag === "Returned" && outcome.output === expected
      ? undefined
      : `must return ${expected}, but: ${shown(outcome)}`
}

/** Requires that the run ends with one of these outcomes. */
export const ends =
  (...tags: ReadonlyArray<Outcome["_tag"]>): OutcomeCheck =>
  (outcome) =>
    tags.includes(outcome._tag) ? undefined : `must end as ${tags.join(" or ")}, but: ${shown(outcome)}`

/** Requires an outcome that affects no other run. */
export const contained = ends("Returned", "Responded", "Threw", "LimitExceeded", "TimedOut", "CpuExhausted")

/**
 * Helpers in the scope of attacks.
 *
 * - `home(value)`: "home" if the value's constructors lead to the global of this realm and to nothing of a process;
 *   "none" if they lead nowhere.
 * - `ways(values)`: the distinct results for all values.
 * - `attempt(work)`: its result, or the name of the error that it throws.
 */
export const preamble = `
const home = (value) => {
  let there
  try { there = Object(value).constructor.constructor("return globalThis")() } catch { return "none" }
  if (there !== globalThis) return "FOREIGN"
  return typeof there.process === "undefined" && typeof there.require === "undefined" ? "home" : "PROCESS"
}
const ways = (values) => [...new Set(values.map(home))].sort()
const attempt = async (work) => { try { return await work() } catch (error) { return error?.name ?? "thrown" } }
`
