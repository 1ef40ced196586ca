/** What a client does about events and runs. Each holds fast what it was told, and what may be where it was told nothing. */
import { randomUUID } from "node:crypto"
import { endsSomehow, hasStatus, known, succeedsOnce, until } from "./RunFacts.ts"
import { at, listAt, textAt, type World } from "./World.ts"

/** Does one thing and holds what was acknowledged of it; ends early when nobody answers. */
export type Deed = (world: World) => Promise<void>

const publish = (world: World, type: string, data: Readonly<Record<string, unknown>>, more: object = {}) =>
  world.ask("POST", "/v1/events", { body: { event_type: type, event_data: data, ...more } })

/** An event whose handler gives its number. */
const publishing =
  (type: string, more: object = {}, resultOf: (n: number) => unknown = (n) => n): Deed =>
  async (world) => {
    const n = world.next()
    const answer = await known(publish(world, type, { n }, more))
    if (answer === null) return
    const eventId = textAt(answer.body, "data", "event_id")
    world.hold(`${type} ${eventId}`, succeedsOnce(world, eventId, resultOf(n)))
  }

/** Repeated with its key until it is acknowledged, it is there once. */
const publishOnce: Deed = async (world) => {
  const n = world.next()
  const body = { event_type: "crash:work", event_data: { n } }
  const headers = { "idempotency-key": randomUUID() }
  const first = await known(world.ask("POST", "/v1/events", { body, headers }))
  const firstId = first === null ? null : textAt(first.body, "data", "event_id")
  const check = async () => {
    const eventId = textAt((await world.ask("POST", "/v1/events", { body, headers })).body, "data", "event_id")
    if (firstId !== null && eventId !== firstId) return `repeated it is ${eventId}`
    return succeedsOnce(world, eventId, n)()
  }
  world.hold(`event with a key ${firstId ?? n}`, check, "while keys are kept")
}

const webhook: Deed = async (world) => {
  const n = world.next()
  const answer = await known(world.ask("POST", "/webhook/default/production/crash/hook", { body: { n } }))
  if (answer === null) return
  const runId = textAt(answer.body, "run_id")
  world.hold(`answered webhook ${runId}`, hasStatus(world, runId, "succeeded"))
}

const call: Deed = async (world) => {
  const n = world.next()
  const body = { fn: "crash:main/called", args: [n], wait: 10 }
  const answer = await known(world.ask("POST", "/v1/calls", { body }))
  if (answer === null) return
  const eventId = textAt(answer.body, "data", "event_id")
  world.hold(`call ${eventId}`, succeedsOnce(world, eventId, n))
}

const cancel: Deed = async (world) => {
  const answer = await known(publish(world, "crash:slow", { n: world.next() }))
  if (answer === null) return
  const eventId = textAt(answer.body, "data", "event_id")
  const ask = async () => listAt((await world.ask("GET", `/v1/events/${eventId}/runs`)).body, "data")
  const runs = await known(until(ask, (found) => found.length > 0))
  const runId = runs === null || runs.length === 0 ? null : textAt(runs[0], "run_id")
  const cancelled = runId === null ? null : await known(world.ask("POST", `/v1/runs/${runId}/cancel`))
  if (cancelled === null || runId === null) {
    world.hold(`event ${eventId} that may be cancelled`, endsSomehow(world, eventId))
  } else {
    world.hold(`cancelled run ${runId}`, hasStatus(world, runId, "cancelled"))
  }
}

/** Fires once, though nobody asks for it. */
const schedule: Deed = async (world) => {
  const n = world.next()
  const data = { fn: "crash:main/called", args: [n], schedule: "PT0.1S" }
  const answer = await known(publish(world, "svc:schedule:new", data))
  if (answer === null) return
  const ask = async () => {
    const { body } = await world.ask("GET", "/v1/runs?type=schedule&limit=100")
    return listAt(body, "data").filter((run) => at(run, "result") === n && at(run, "status") === "succeeded")
  }
  world.hold(
    `schedule of ${n}`,
    async () => {
      const runs = await until(ask, (found) => found.length > 0)
      return runs.length === 1 ? null : `it fired ${runs.length} times`
    },
    // Later ones move it off the first page.
    "until the next look"
  )
}

export const runDeeds: Readonly<Record<string, Deed>> = {
  publish: publishing("crash:work"),
  "publish with a key": publishOnce,
  "publish for later": publishing("crash:work", { delay: "100ms" }),
  "publish for one that fails first": publishing("crash:flaky"),
  "publish two of a group": async (world) => {
    await Promise.all([publishing("crash:grouped")(world), publishing("crash:grouped")(world)])
  },
  "publish for one that asks its host": publishing("crash:chatty", {}, (n) => ({ n, secret: "kept" })),
  webhook,
  call,
  cancel,
  schedule
}
