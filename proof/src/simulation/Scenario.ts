/**
 * A scenario that a seed determines: the functions of a tenant, the requests of clients and the faults, with their times.
 *
 * It is plain data, so that a failing scenario can be shortened by removing steps.
 */
import { Draws } from "./Draws.ts"
import { type Control, drawBatch, drawCancellation, drawControl } from "./flowControl/Control.ts"
import { drawFlowRules, drawKey, drawPlan, type FlowRules, type Plan } from "./workflows/Plan.ts"

/** Metadata of a function, which handles `job:<index>` and `job:all`. */
export interface Rules {
  readonly attempts: number
  /** Milliseconds. */
  readonly delay: number
  readonly backoff: number
  readonly jitter: boolean
  /** Milliseconds. */
  readonly timeout: number
  /** Maximum concurrent runs; null for no limit. */
  readonly limit: number | null
  /** True if the limit holds for each key separately. */
  readonly keyed: boolean
  /** True if it handles only one of the events with the same key. */
  readonly once: boolean
  /** Flow control of the function; null without any. */
  readonly control: Control | null
}

/** Behaviour of a function during one attempt. */
export type Act =
  | "returns"
  | "throws"
  | "hangs"
  /** Publishes an event, or calls a function, before it returns. */
  | "publishes"
  | "calls"
  /** The runner crashes. */
  | "runner lost"

/** Data of an event. */
export interface Job {
  /** One act per attempt; the last one repeats. */
  readonly script: ReadonlyArray<Act>
  readonly key: string
  /** Delay before the act, in milliseconds. */
  readonly takes: number
}

interface At {
  /** Elapsed milliseconds. */
  readonly at: number
  /** Index of the node. A node that is down does not respond. */
  readonly node: number
}

export type Step =
  | (At & {
      readonly _tag: "Publish"
      /** Index of a function; the number of functions stands for all of them. */
      readonly type: number
      readonly job: Job
      /** Delay of the event, in milliseconds. */
      readonly delay: number
      /** Idempotency key: the client retries until it gets a response. Null: the client sends the request once. */
      readonly request: string | null
    })
  /** Calls a function and waits for its result. */
  | (At & { readonly _tag: "Call"; readonly type: number; readonly job: Job; readonly waitSeconds: number })
  /** `takes`: milliseconds until the function responds. */
  | (At & { readonly _tag: "Webhook"; readonly takes: number })
  /** Publishes an event that a durable function handles. */
  | (At & {
      readonly _tag: "Flow"
      /** Index of the durable function. */
      readonly type: number
      readonly plan: Plan
      readonly request: string
    })
  /** Publishes an event for waits with this key. */
  | (At & { readonly _tag: "Signal"; readonly key: string; readonly request: string | null })
  /** Cancels one of the active runs. */
  | (At & { readonly _tag: "Cancel"; readonly pick: number })
  /** Shuts the node down and starts it again. */
  | (At & { readonly _tag: "Restart" })

export type StoreFault = "refused" | "answer lost" | "late" | "slow"
export type FeedFault = "lost" | "refused" | "slow" | "away"

export type Fault =
  /** The node crashes: immediately, or before or after its next statement is applied. */
  | (At & { readonly _tag: "Crash"; readonly when: "now" | "before" | "after"; readonly downMs: number })
  /** Statements of the node are lost or, with `isLate`, arrive when the partition ends. */
  | (At & { readonly _tag: "Partition"; readonly forMs: number; readonly isLate: boolean })
  /** A fault of the next statements of the node. */
  | (At & { readonly _tag: "Store"; readonly fault: StoreFault; readonly calls: number; readonly ms: number })
  | (At & { readonly _tag: "Feed"; readonly fault: FeedFault; readonly forMs: number })
  /** The clock of the node steps. */
  | (At & { readonly _tag: "Clock"; readonly ms: number })
  /** The sandbox of the node is unavailable. */
  | (At & { readonly _tag: "Sandbox"; readonly forMs: number })
  /** The runners of the node die, with all durable functions in them. */
  | (At & { readonly _tag: "Runners" })

export interface Scenario {
  readonly seed: number
  readonly nodes: number
  /** Probability, 0 to 1, that the next task is drawn at random instead of the oldest. */
  readonly shuffle: number
  /** Maximum steps of a fiber before it yields. */
  readonly stepsMax: number
  /** True if the tasks of each node keep their order, which Effect's scheduler guarantees. */
  readonly isOrdered: boolean
  /** Maximum concurrent deliveries of a node, in total and per environment. */
  readonly slots: { readonly total: number; readonly perEnv: number }
  readonly rules: ReadonlyArray<Rules>
  /** Durable functions. */
  readonly flows: ReadonlyArray<FlowRules>
  readonly steps: ReadonlyArray<Step>
  readonly faults: ReadonlyArray<Fault>
}

/** Interval of steps and faults, in elapsed milliseconds. */
const firstMs = 1_000
const lastMs = 90_000

export const drawScenario = (seed: number): Scenario => {
  const draws = new Draws(seed, "scenario")
  const nodes = draws.between(1, 3)
  const rules = repeat(draws.between(2, 4), () => drawRules(draws))
  // One in ten scenarios has no faults, so that delays and losses without a fault are found as well.
  const faults = draws.chance(0.1) ? 0 : draws.between(1, 12)
  const requests = draws.between(15, 45)
  return {
    seed,
    nodes,
    shuffle: draws.pick([0, 0.2, 1]),
    stepsMax: draws.pick([2048, 2048, 40, 7]),
    isOrdered: false,
    slots: draws.pick([
      { total: 64, perEnv: 16 },
      { total: 3, perEnv: 3 },
      { total: 8, perEnv: 2 }
    ]),
    rules,
    flows: [],
    steps: sortByTime(repeat(requests, (index) => drawStep(draws, nodes, rules.length, index))),
    faults: sortByTime(repeat(faults, () => drawFault(draws, nodes)))
  }
}

/** Returns the scenario of a seed with durable functions and fewer other requests. */
export const drawWorkflowScenario = (seed: number): Scenario => {
  const scenario = drawScenario(seed)
  const draws = new Draws(seed, "workflows")
  const { nodes } = scenario
  const flows = repeat(draws.between(1, 3), () => drawFlowRules(draws))
  const on = () => ({ at: draws.between(firstMs, lastMs), node: draws.between(0, nodes - 1) })
  const steps = [
    ...scenario.steps.filter(() => draws.chance(0.3)),
    ...repeat(draws.between(3, 12), (index): Step => {
      const type = draws.between(0, flows.length - 1)
      return { ...on(), _tag: "Flow", type, plan: drawPlan(draws), request: `flow-${index}` }
    }),
    ...repeat(draws.between(5, 30), (index): Step => {
      const request = draws.chance(0.5) ? `signal-${index}` : null
      return { ...on(), _tag: "Signal", key: drawKey(draws), request }
    }),
    ...repeat(draws.between(0, 3), (): Step => ({ ...on(), _tag: "Cancel", pick: draws.word() })),
    ...repeat(draws.between(0, 2), (): Step => ({ ...on(), _tag: "Restart" }))
  ]
  const runners = scenario.faults.length === 0 ? 0 : draws.between(0, 2)
  const faults = [...scenario.faults, ...repeat(runners, (): Fault => ({ ...on(), _tag: "Runners" }))]
  return {
    ...scenario,
    ...{ flows, steps: sortByTime(steps), faults: sortByTime(faults) },
    // The results of a durable function have an order, in which its host calls are answered.
    ...{ isOrdered: true, stepsMax: 2048 }
  }
}

/** Returns the scenario of a seed with flow control, and more events of fewer functions. */
export const drawFlowControlScenario = (seed: number): Scenario => {
  const scenario = drawScenario(seed)
  const draws = new Draws(seed, "flow control")
  const cancellations = new Draws(seed, "cancellations")
  const rules = scenario.rules.map((one): Rules => {
    const control = drawCancellation(cancellations, drawControl(draws))
    // A singleton is a group of its own.
    return { ...one, once: false, limit: control.singleton === undefined ? one.limit : null, control }
  })
  const extra = repeat(draws.between(20, 60), (index) => drawStep(draws, scenario.nodes, rules.length, index + 1_000))
  const steps = [...scenario.steps, ...extra.filter(({ _tag }) => _tag === "Publish")]
  return { ...scenario, rules, steps: sortByTime(steps) }
}

/** Returns the scenario of a seed with flow control, whose functions also handle batches. */
export const drawBatchScenario = (seed: number): Scenario => {
  const scenario = drawFlowControlScenario(seed)
  const draws = new Draws(seed, "batches")
  const rules = scenario.rules.map(
    ({ control, ...one }): Rules => ({ ...one, control: drawBatch(draws, control ?? {}) })
  )
  return { ...scenario, rules }
}

const repeat = <A>(count: number, one: (index: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, index) => one(index))

const sortByTime = <A extends At>(all: ReadonlyArray<A>): ReadonlyArray<A> => [...all].sort((a, b) => a.at - b.at)

const drawRules = (draws: Draws): Rules => ({
  attempts: draws.between(1, 4),
  delay: draws.pick([0, 500, 4000]),
  backoff: draws.pick([1, 2]),
  jitter: draws.chance(0.3),
  timeout: draws.pick([2500, 8000, 60_000]),
  limit: draws.chance(0.4) ? draws.between(1, 3) : null,
  keyed: draws.chance(0.5),
  once: draws.chance(0.2),
  control: null
})

const drawJob = (draws: Draws): Job => ({
  script: repeat(draws.between(1, 3), () =>
    draws.pick<Act>(["returns", "returns", "returns", "throws", "hangs", "publishes", "calls", "runner lost"])
  ),
  key: draws.pick(["a", "b", "c"]),
  takes: draws.pick([0, 5, 200, 1500, draws.chance(0.2) ? 45_000 : 400])
})

const drawStep = (draws: Draws, nodes: number, functions: number, index: number): Step => {
  // Requests arrive in bursts.
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
