/**
 * Durable functions of the tenant. Bodies of steps publish an event each time they run, and return its number: so a record
 * names the execution that it is from.
 */
import type { Draws } from "@weft/tooling/draws"
import { planned } from "./Guest.ts"

/** Parameters of a flow; the data of its event. */
export interface FlowPlan {
  readonly n: number
  /** Number of attempts at the step `flaky` that fail on purpose. */
  readonly failures: number
  /** True if the function fails at its end, so that its steps are undone. */
  readonly fails: boolean
  /** Durations of the sleeps by their names, in milliseconds. */
  readonly naps: Readonly<Record<string, number>>
}

/** Names of the branches that run side by side. */
const branches = ["a", "b", "c"] as const

/** Steps that are undone if the function fails, in their order. */
export const undoneSteps = ["hotel", "flight", "car"] as const

/** Timeouts in milliseconds. */
const signalMs = 30_000
const laterMs = 15_000
const tokenMs = 120_000

/** Name of the token. */
export const tokenName = "approval"

/** Returns a plan without its number. Some sleeps are too short for a suspension. */
export const drawPlan = (random: Draws, fails: boolean): Omit<FlowPlan, "n"> => ({
  failures: random.whole(0, 2),
  fails,
  naps: {
    nap: random.whole(300, 4_000),
    "a naps": random.whole(20, 900),
    "b naps": random.whole(1_100, 4_000),
    "c naps": random.whole(20, 2_500),
    rest: random.whole(500, 3_000)
  }
})

export const readPlan = (data: Readonly<Record<string, unknown>>): FlowPlan => {
  const naps = typeof data.naps === "object" && data.naps !== null ? Object.entries(data.naps) : []
  return {
    n: Number(data.n),
    failures: Number(data.failures),
    fails: data.fails === true,
    naps: Object.fromEntries(naps.map(([name, ms]) => [name, Number(ms)]))
  }
}

/** A sleep between two steps. */
export interface PlannedSleep {
  readonly name: string
  readonly after: string
  readonly before: string
}

export const sleeps: ReadonlyArray<PlannedSleep> = [
  { name: "nap", after: "flaky", before: "gather" },
  ...branches.map((name) => ({ name: `${name} naps`, after: `${name} begins`, before: `${name} ends` }))
]

/** The sleep of the child run. */
export const childSleep: PlannedSleep = { name: "rest", after: "work", before: "done" }

/** A wait for a signal with its name, and the requests that precede it. */
export interface PlannedWait {
  readonly name: string
  readonly after: ReadonlyArray<string>
  readonly timeoutMs: number
}

export const waits: ReadonlyArray<PlannedWait> = [
  { name: "signal", after: branches.map((name) => `${name} ends`), timeoutMs: signalMs },
  { name: "later", after: ["child"], timeoutMs: laterMs }
]

const ofKind = (kind: string, names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.map((name) => `${kind} ${name}`)

/** Returns the requests of a flow, each as its kind and name, in any order. */
export const listRequests = ({ fails }: FlowPlan): ReadonlyArray<string> => [
  ...ofKind("step", ["first", "flaky", "gather", "beside", "sum", ...undoneSteps]),
  ...ofKind(
    "step",
    branches.flatMap((name) => [`${name} begins`, `${name} ends`])
  ),
  ...ofKind(
    "sleep",
    sleeps.map(({ name }) => name)
  ),
  ...ofKind(
    "event",
    waits.map(({ name }) => name)
  ),
  ...["token approval", "completion approval", "run child"],
  ...(fails
    ? ofKind(
        "step",
        undoneSteps.map((name) => `undo ${name}`)
      )
    : [])
]

export const childRequests: ReadonlyArray<string> = ["step work", "sleep rest", "step done"]

/** Type of the events that bodies publish. */
export const bodyType = "chaos:body"

export const signalType = "chaos:signal"

export const flowSource = `
// Outages of the database fail attempts as well.
const often = { attempts: 100, delay: "500ms", backoff: 1, jitter: false }

const record = (svc, flow) => {
  const activation = { activation: crypto.randomUUID(), activated: Date.now() }
  const received = []
  return {
    received,
    keep: async (name, result) => {
      const value = (await result) ?? null
      received.push([name, value])
      return value
    },
    body: (name, { failures = 0, more = () => ({}) } = {}) => async ({ attempt }) => {
      const ids = { name, attempt, execution: crypto.randomUUID(), began: Date.now(), ...activation }
      await svc.events.publish({ type: "${bodyType}", data: { flow, run_id: svc.run.run_id, ...ids } })
      await pause(ids.began % 40)
      if (attempt <= failures) throw new Error("${planned}")
      return { execution: ids.execution, activation: ids.activation, ...more() }
    }
  }
}

export const flow = on({ event: "chaos:flow", durable: true, retry: often, timeout: "30m" }, async (event, svc) => {
  const { n, failures, fails, naps } = event.event_data
  const { received, keep, body } = record(svc, n)
  const step = (name, options) => keep(name, svc.step(name, body(name, options)))
  const nap = (name) => keep(name, svc.sleep(name, naps[name]))
  const wait = (name, timeout, more) => {
    const match = { flow: n, name }
    return keep(name, svc.waitForEvent(name, { event: "${signalType}", match, timeout, ...more }))
  }
  const undo = (name) => (value, context) =>
    body("undo " + name, { more: () => ({ undone: value.execution }) })(context)

  await step("first")
  await step("flaky", { failures })
  await nap("nap")
  await step("gather")
  await Promise.all(${JSON.stringify(branches)}.map(async (branch) => {
    await step(branch + " begins")
    await nap(branch + " naps")
    await step(branch + " ends")
  }))
  await Promise.all([wait("signal", ${signalMs}, { since: "start" }), step("beside")])
  const token = await svc.createToken("${tokenName}", { timeout: ${tokenMs} })
  await keep("${tokenName}", svc.waitForToken(token))
  await keep("child", svc.invoke("main/child", [{ flow: n, ms: naps.rest }], { name: "child" }))
  await wait("later", ${laterMs})
  const saga = svc.saga()
  await keep("hotel", saga.step("hotel", body("hotel"), undo("hotel")))
  await keep("flight", svc.step("flight", body("flight"), { compensate: undo("flight") }))
  await keep("car", saga.step("car", body("car"), undo("car")))
  await svc.step("sum", body("sum", { more: () => ({ received }) }))
  if (fails) throw new Error("${planned}")
  return { n, received }
})

export const child = on({ durable: true, retry: often, timeout: "30m" }, async ({ flow, ms }, svc) => {
  const { received, keep, body } = record(svc, flow)
  await keep("work", svc.step("work", body("work")))
  await keep("rest", svc.sleep("rest", ms))
  await keep("done", svc.step("done", body("done")))
  return { n: flow, received }
})
`
