/** Operations on events and runs. Each registers checks of its responses, and of what is allowed without a response. */
import { randomUUID } from "node:crypto"
import { at, type Harness, listAt, textAt } from "./Harness.ts"
import { ends, hasStatus, ifAnswered, succeedsOnce, until } from "./RunExpectations.ts"

/** Performs one operation and registers checks of what was acknowledged. Ends early if there is no response. */
export type Operation = (harness: Harness) => Promise<void>

const publish = (harness: Harness, type: string, data: Readonly<Record<string, unknown>>, more: object = {}) =>
  harness.request("POST", "/v1/events", { body: { event_type: type, event_data: data, ...more } })

/** Publishes an event whose handler returns its number. */
const publishing =
  (type: string, more: object = {}, toResult: (n: number) => unknown = (n) => n): Operation =>
  async (harness) => {
    const n = harness.next()
    const answer = await ifAnswered(publish(harness, type, { n }, more))
    if (answer === null) return
    const eventId = textAt(answer.body, "data", "event_id")
    harness.expect(`${type} ${eventId}`, succeedsOnce(harness, eventId, toResult(n)))
  }

/** Publishes an event with a key and repeats the request; the event is stored once. */
const publishOnce: Operation = async (harness) => {
  const n = harness.next()
  const body = { event_type: "crash:work", event_data: { n } }
  const headers = { "idempotency-key": randomUUID() }
  const first = await ifAnswered(harness.request("POST", "/v1/events", { body, headers }))
  const firstId = first === null ? null : textAt(first.body, "data", "event_id")
  const check = async () => {
    const eventId = textAt((await harness.request("POST", "/v1/events", { body, headers })).body, "data", "event_id")
    if (firstId !== null && eventId !== firstId) return `the repeated request created ${eventId}`
    return succeedsOnce(harness, eventId, n)()
  }
  harness.expect(`event with a key ${firstId ?? n}`, check, "while keys are stored")
}

const webhook: Operation = async (harness) => {
  const n = harness.next()
  const answer = await ifAnswered(harness.request("POST", "/webhook/default/production/crash/hook", { body: { n } }))
  if (answer === null) return
  const runId = textAt(answer.body, "run_id")
  harness.expect(`webhook ${runId} with a response`, hasStatus(harness, runId, "succeeded"))
}

const call: Operation = async (harness) => {
  const n = harness.next()
  const body = { fn: "crash:main/called", args: [n], wait: 10 }
  const answer = await ifAnswered(harness.request("POST", "/v1/calls", { body }))
  if (answer === null) return
  const eventId = textAt(answer.body, "data", "event_id")
  harness.expect(`call ${eventId}`, succeedsOnce(harness, eventId, n))
}

const cancel: Operation = async (harness) => {
  const answer = await ifAnswered(publish(harness, "crash:slow", { n: harness.next() }))
  if (answer === null) return
  const eventId = textAt(answer.body, "data", "event_id")
  const poll = async () => listAt((await harness.request("GET", `/v1/events/${eventId}/runs`)).body, "data")
  const runs = await ifAnswered(until(poll, (found) => found.length > 0))
  const runId = runs === null || runs.length === 0 ? null : textAt(runs[0], "run_id")
  const cancelled = runId === null ? null : await ifAnswered(harness.request("POST", `/v1/runs/${runId}/cancel`))
  if (cancelled === null || runId === null) {
    harness.expect(`event ${eventId}, possibly cancelled`, ends(harness, eventId))
  } else {
    harness.expect(`cancelled run ${runId}`, hasStatus(harness, runId, "cancelled"))
  }
}

/** Creates a schedule that fires once. */
const schedule: Operation = async (harness) => {
  const n = harness.next()
  const data = { fn: "crash:main/called", args: [n], schedule: "PT0.1S" }
  const answer = await ifAnswered(publish(harness, "svc:schedule:new", data))
  if (answer === null) return
  const poll = async () => {
    const { body } = await harness.request("GET", "/v1/runs?type=schedule&limit=100")
    return listAt(body, "data").filter((run) => at(run, "result") === n && at(run, "status") === "succeeded")
  }
  harness.expect(
    `schedule of ${n}`,
    async () => {
      const runs = await until(poll, (found) => found.length > 0)
      return runs.length === 1 ? null : `it fired ${runs.length} times`
    },
    // Later schedules move its run off the first page.
    "until the next check"
  )
}

export const runWorkload: Readonly<Record<string, Operation>> = {
  publish: publishing("crash:work"),
  "publish with a key": publishOnce,
  "publish for later": publishing("crash:work", { delay: "100ms" }),
  "publish for a handler that fails first": publishing("crash:flaky"),
  "publish two of a group": async (harness) => {
    await Promise.all([publishing("crash:grouped")(harness), publishing("crash:grouped")(harness)])
  },
  "publish for a handler with host calls": publishing("crash:chatty", {}, (n) => ({ n, secret: "kept" })),
  webhook,
  call,
  cancel,
  schedule
}
