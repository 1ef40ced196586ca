/**
 * What a seed stands for: the functions of a tenant, what clients ask for and when, and what goes wrong and when.
 *
 * Plain data, so that a scenario that shows a fault can be made shorter by leaving things out.
 */
import { Draws } from "./Draws.ts"

/** On what terms a function runs; it handles `job:<index>` and `job:all`. */
export interface Rules {
  readonly attempts: number
  /** Milliseconds. */
  readonly delay: number
  readonly backoff: number
  readonly jitter: boolean
  /** Milliseconds. */
  readonly timeout: number
  /** How many of its runs may go on at once; null: any number. */
  readonly limit: number | null
  /** Whether each key has that limit for itself. */
  readonly keyed: boolean
  /** Whether it handles one event only of those with the same key. */
  readonly once: boolean
}

/** What a function does at one attempt. */
export type Act =
  | "returns"
  | "throws"
  | "hangs"
  /** It publishes an event before it returns, or calls a function. */
  | "publishes"
  | "calls"
  /** Its runner dies. */
  | "runner lost"

/** The data of an event. */
export interface Job {
  /** An act for each attempt, of which the last goes on. */
  readonly script: ReadonlyArray<Act>
  readonly key: string
  /** Milliseconds until the act. */
  readonly takes: number
}

interface At {
  /** Milliseconds since the beginning. */
  readonly at: number
  /** Which of the nodes; those that are down answer nobody. */
  readonly node: number
}

export type Step =
  | (At & {
      readonly _tag: "Publish"
      /** Number of a function; as many as there are: all of them. */
      readonly type: number
      readonly job: Job
      /** Milliseconds until it happens. */
      readonly delay: number
      /** The client's name for the request, which it makes until it is answered; null: it asks once. */
      readonly request: string | null
    })
  /** Calls a function and waits for its end. */
  | (At & { readonly _tag: "Call"; readonly type: number; readonly job: Job; readonly waitSeconds: number })
  /** `takes`: milliseconds until the function answers. */
  | (At & { readonly _tag: "Webhook"; readonly takes: number })
  /** Cancels a run that is under way. */
  | (At & { readonly _tag: "Cancel"; readonly pick: number })
  /** Stops the node as one stops it well, and starts it again. */
  | (At & { readonly _tag: "Restart" })

export type StoreFault = "refused" | "answer lost" | "late" | "slow"
export type FeedFault = "lost" | "refused" | "slow" | "away"

export type Fault =
  /** The node is gone: at once, or before or after a statement of it is done. */
  | (At & { readonly _tag: "Crash"; readonly when: "now" | "before" | "after"; readonly downMs: number })
  /** What the node asks the store for does not arrive; `late`: it arrives when the partition is over. */
  | (At & { readonly _tag: "Partition"; readonly forMs: number; readonly isLate: boolean })
  /** Some statements of the node, one after the other. */
  | (At & { readonly _tag: "Store"; readonly fault: StoreFault; readonly calls: number; readonly ms: number })
  | (At & { readonly _tag: "Feed"; readonly fault: FeedFault; readonly forMs: number })
  /** The node's clock steps. */
  | (At & { readonly _tag: "Clock"; readonly ms: number })
  /** The node's sandbox cannot run anything. */
  | (At & { readonly _tag: "Sandbox"; readonly forMs: number })

export interface Scenario {
  readonly seed: number
  readonly nodes: number
  /** How often the next fiber is drawn, rather than the one that waits longest; 0 to 1. */
  readonly shuffle: number
  /** Steps of a fiber before others have their turn. */
  readonly stepsMax: number
  /** Deliveries that run at once on a node, in all and of one environment. */
  readonly slots: { readonly total: number; readonly perEnv: number }
  readonly rules: ReadonlyArray<Rules>
  readonly steps: ReadonlyArray<Step>
  readonly faults: ReadonlyArray<Fault>
}

/** When the first step and the first fault may come, and the last ones, in milliseconds since the beginning. */
const firstMs = 1_000
const lastMs = 90_000

export const scenarioOf = (seed: number): Scenario => {
  const draws = new Draws(seed, "scenario")
  const nodes = draws.between(1, 3)
  const rules = listOf(draws.between(2, 4), () => drawRules(draws))
  // Some go well, so that what is slow or lost without a fault is seen, too.
  const faults = draws.chance(0.1) ? 0 : draws.between(1, 12)
  const requests = draws.between(15, 45)
  return {
    seed,
    nodes,
    shuffle: draws.pick([0, 0.2, 1]),
    stepsMax: draws.pick([2048, 2048, 40, 7]),
    slots: draws.pick([
      { total: 64, perEnv: 16 },
      { total: 3, perEnv: 3 },
      { total: 8, perEnv: 2 }
    ]),
    rules,
    steps: inTime(listOf(requests, (index) => drawStep(draws, nodes, rules.length, index))),
    faults: inTime(listOf(faults, () => drawFault(draws, nodes)))
  }
}

const listOf = <A>(count: number, one: (index: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, index) => one(index))

const inTime = <A extends At>(all: ReadonlyArray<A>): ReadonlyArray<A> => [...all].sort((a, b) => a.at - b.at)

const drawRules = (draws: Draws): Rules => ({
  attempts: draws.between(1, 4),
  delay: draws.pick([0, 500, 4000]),
  backoff: draws.pick([1, 2]),
  jitter: draws.chance(0.3),
  timeout: draws.pick([2500, 8000, 60_000]),
  limit: draws.chance(0.4) ? draws.between(1, 3) : null,
  keyed: draws.chance(0.5),
  once: draws.chance(0.2)
})

const drawJob = (draws: Draws): Job => ({
  script: listOf(draws.between(1, 3), () =>
    draws.pick<Act>(["returns", "returns", "returns", "throws", "hangs", "publishes", "calls", "runner lost"])
  ),
  key: draws.pick(["a", "b", "c"]),
  takes: draws.pick([0, 5, 200, 1500, draws.chance(0.2) ? 45_000 : 400])
})

const drawStep = (draws: Draws, nodes: number, functions: number, index: number): Step => {
  // In bursts, as load comes.
  const at = firstMs + Math.floor((draws.between(0, 19) / 20) * (lastMs - firstMs)) + draws.between(0, 50)
  const to = { at, node: draws.between(0, nodes - 1) }
  const kind = draws.share()
  if (kind < 0.7) {
    return {
      ...to,
      _tag: "Publish",
      type: draws.between(0, functions),
      job: drawJob(draws),
      delay: draws.pick([0, 0, 0, 0, 700, 20_000]),
      request: draws.chance(0.25) ? `request-${index}` : null
    }
  }
  if (kind < 0.8) {
    const type = draws.between(0, functions - 1)
    return { ...to, _tag: "Call", type, job: drawJob(draws), waitSeconds: draws.pick([0, 5, 120]) }
  }
  if (kind < 0.9) return { ...to, _tag: "Webhook", takes: draws.pick([0, 10, 300, 20_000]) }
  return kind < 0.97 ? { ...to, _tag: "Cancel", pick: draws.word() } : { ...to, _tag: "Restart" }
}

const drawFault = (draws: Draws, nodes: number): Fault => {
  const on = { at: draws.between(firstMs, lastMs), node: draws.between(0, nodes - 1) }
  switch (draws.pick(["Crash", "Partition", "Store", "Store", "Store", "Feed", "Clock", "Sandbox"])) {
    case "Crash":
      return { ...on, _tag: "Crash", when: draws.pick(["now", "before", "after"]), downMs: draws.between(100, 60_000) }
    case "Partition":
      return { ...on, _tag: "Partition", forMs: draws.between(500, 70_000), isLate: draws.chance(0.5) }
    case "Feed":
      return {
        ...on,
        _tag: "Feed",
        fault: draws.pick(["lost", "refused", "slow", "away"]),
        forMs: draws.between(100, 20_000)
      }
    case "Clock":
      return { ...on, _tag: "Clock", ms: draws.between(-2000, 2000) }
    case "Sandbox":
      return { ...on, _tag: "Sandbox", forMs: draws.between(100, 10_000) }
    default:
      return {
        ...on,
        _tag: "Store",
        fault: draws.pick(["refused", "answer lost", "answer lost", "late", "slow"]),
        calls: draws.between(1, 6),
        ms: draws.between(10, 20_000)
      }
  }
}
