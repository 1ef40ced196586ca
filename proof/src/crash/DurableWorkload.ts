/**
 * Operations on durable functions. Each drives its run to the end: it publishes the awaited event, completes tokens and cancels,
 * one request for each suspension. After a crash the check continues with the requests that were not acknowledged.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { at, type Harness, listAt, textAt } from "./Harness.ts"
import { ifAnswered } from "./RunExpectations.ts"
import type { Operation } from "./RunWorkload.ts"

/** Time limit of a durable run, in milliseconds: its build may be under quarantine for a minute. */
const runMs = 180_000
const pollMs = 40

/** A durable run as its client knows it. */
interface Driven {
  readonly n: number
  /** The event that starts it; null until it is known. */
  eventId: string | null
  /** Names of the requests that were acknowledged. */
  readonly acknowledged: Set<string>
  /** Names of the requests that were sent. */
  readonly sent: Set<string>
}

/** A request to a suspended run. Returns false if the run is not ready for it. */
type Request = (harness: Harness, runId: string, driven: Driven) => Promise<boolean>

const signal: Request = async (harness, _runId, { n }) => {
  await harness.request("POST", "/v1/events", { body: { event_type: "flow:signal", event_data: { n } } })
  return true
}

/** Completes a token. Returns false if it does not exist yet. */
const complete = async (harness: Harness, path: string, data: object, isRepeated: boolean): Promise<boolean> => {
  const expected = isRepeated ? [404, 409] : [404]
  return (await harness.request("POST", path, { body: { data }, expected })).status !== 404
}

const approve: Request = (harness, runId, { n, sent }) =>
  complete(harness, `/v1/runs/${runId}/tokens/approval`, { by: n }, sent.has("approval"))

/** Completes a token with its URL, which is in the result of a step. */
const pay: Request = async (harness, runId, { n, sent }) => {
  const { body } = await harness.request("GET", `/v1/runs/${runId}/steps?limit=100`)
  const asked = listAt(body, "data").find((step) => at(step, "name") === "ask")
  return asked !== undefined && complete(harness, textAt(asked, "result", "value"), { paid: n }, sent.has("payment"))
}

const cancel: Request = async (harness, runId, { sent }) => {
  const steps = listAt((await harness.request("GET", `/v1/runs/${runId}/steps`)).body, "data")
  if (!steps.some((step) => at(step, "name") === "release")) return false
  // It may have ended after a cancellation without a response.
  const expected = sent.has("cancel") ? [400] : []
  // Longer than the time after which another node continues the run.
  await harness.request("POST", `/v1/runs/${runId}/cancel`, { body: { cleanup: "3m" }, expected })
  return true
}

type Requests = ReadonlyArray<readonly [name: string, request: Request]>

/** Drives a run until it has ended. Throws `UnknownOutcome` if there is no response. */
const drive = async (harness: Harness, driven: Driven, requests: Requests, type: string): Promise<unknown> => {
  const deadline = performance.now() + runMs
  for (;;) {
    const run = await findRun(harness, driven, type)
    if (run === null && driven.eventId === null) return null
    if (run !== null && at(run, "status") !== "running") return run
    if (performance.now() > deadline) return run
    if (run !== null && at(run, "waiting") !== null) await sendNext(harness, textAt(run, "run_id"), driven, requests)
    await sleep(pollMs)
  }
}

const sendNext = async (harness: Harness, runId: string, driven: Driven, requests: Requests): Promise<void> => {
  const next = requests.find(([name]) => !driven.acknowledged.has(name))
  if (next === undefined) return
  const [name, request] = next
  const isSent = request(harness, runId, driven)
  // A second one may find what a first one without a response has done.
  const isDone = await isSent.catch((error: unknown) => {
    driven.sent.add(name)
    throw error
  })
  if (isDone) driven.acknowledged.add(name)
}

/** Returns the run of the event; null if it has not started, or if no event was stored. */
const findRun = async (harness: Harness, driven: Driven, type: string): Promise<unknown> => {
  if (driven.eventId === null) {
    driven.eventId = await findEvent(harness, type, driven.n)
    if (driven.eventId === null) return null
    // A crash prevented the response.
    harness.durable.set(driven.eventId, 1)
  }
  const { body } = await harness.request("GET", `/v1/events/${driven.eventId}/runs?limit=100`)
  return listAt(body, "data")[0] ?? null
}

/** Finds an event whose publication got no response. */
const findEvent = async (harness: Harness, type: string, n: number): Promise<string | null> => {
  const events = listAt((await harness.request("GET", "/v1/events?limit=100")).body, "data")
  const found = events.find((event) => at(event, "event_type") === type && at(event, "event_data", "n") === n)
  return found === undefined ? null : textAt(found, "event_id")
}

/** Returns an operation that publishes an event, and drives the durable run that it starts. */
const driving =
  (type: string, requests: Requests, check: (run: unknown, n: number) => string | null): Operation =>
  async (harness) => {
    const n = harness.next()
    const driven: Driven = { n, eventId: null, acknowledged: new Set(), sent: new Set() }
    const body = { event_type: type, event_data: { n } }
    const answer = await ifAnswered(harness.request("POST", "/v1/events", { body }))
    if (answer !== null) {
      driven.eventId = textAt(answer.body, "data", "event_id")
      harness.durable.set(driven.eventId, 0)
      await ifAnswered(drive(harness, driven, requests, type))
    }
    harness.expect(`durable run of ${type} ${n}`, async () => {
      const run = await drive(harness, driven, requests, type)
      return run === null && driven.eventId === null ? null : check(run, n)
    })
  }

const checkFlow = (run: unknown, n: number): string | null => {
  if (at(run, "status") !== "succeeded") return `its run is ${JSON.stringify(run)}`
  const received = new Map(listAt(run, "result").map((pair) => [at(pair, "0"), JSON.stringify(at(pair, "1"))]))
  const expected = [
    ["approval", { ok: true, data: { by: n } }],
    ["payment", { ok: true, data: { paid: n } }],
    ["ignored", { ok: false, reason: "timeout" }],
    ["silence", null],
    ["main/visit", { n, round: 2 }],
    ["main/trip", { failed: "no money" }]
  ] as const
  const wrong = expected.filter(([name, value]) => received.get(name) !== JSON.stringify(value))
  return wrong.length === 0 ? null : `it received ${wrong.map(([name]) => `${name}: ${received.get(name)}`).join(", ")}`
}

const checkHeld = (run: unknown): string | null =>
  at(run, "status") === "cancelled" ? null : `its run is ${JSON.stringify(run)}`

export const durableWorkload: Readonly<Record<string, Operation>> = {
  "run a durable function": driving(
    "crash:flow",
    [
      ["signal", signal],
      ["approval", approve],
      ["payment", pay]
    ],
    checkFlow
  ),
  "cancel a durable function": driving("crash:held", [["cancel", cancel]], checkHeld)
}
