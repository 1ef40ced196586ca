/** An attack: guest code, how a run of it must end, and what that proves. */
import type { Invocation, Outcome } from "@weft/core"

/** What reached the host. */
export interface Heard {
  readonly calls: ReadonlyArray<{ readonly op: string; readonly payload: string }>
  readonly lines: ReadonlyArray<string>
}

export interface Attack {
  readonly name: string
  /** The body of `async (event, svc)`; `home`, `ways` and `attempt` of the preamble are in scope. */
  readonly code: string
  /** Undefined when the run ended as it must, else what is wrong with its end. */
  readonly judge: (outcome: Outcome) => string | undefined
  /** The same of what reached the host, from the beginning to a while after the end. */
  readonly heard?: (heard: Heard) => string | undefined
  /** The barrier that this attack runs against. */
  readonly proves: string
  readonly trigger?: Invocation["trigger"]
}

type Judge = Attack["judge"]

const shown = (outcome: Outcome): string => JSON.stringify(outcome).slice(0, 300)

/** The run returns exactly this. */
export const returns = (value: unknown): Judge => {
  const expected = JSON.stringify(value)
  return (outcome) =>
    outcome._tag === "Returned" && outcome.output === expected
      ? undefined
      : `must return ${expected}, but: ${shown(outcome)}`
}

/** The run ends in one of these ways. */
export const ends =
  (...tags: ReadonlyArray<Outcome["_tag"]>): Judge =>
  (outcome) =>
    tags.includes(outcome._tag) ? undefined : `must end as ${tags.join(" or ")}, but: ${shown(outcome)}`

/** Ways to end that leave everybody else where they are. */
export const contained = ends("Returned", "Responded", "Threw", "LimitExceeded", "TimedOut", "CpuExhausted")

/**
 * What attacks have at hand.
 *
 * - `home(value)`: "home" where the value's constructors lead to this realm's own global and to nothing of a process;
 *   "none" where they lead nowhere.
 * - `ways(values)`: the different answers for all of them.
 * - `attempt(work)`: what it comes to, or the name of what it throws.
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
