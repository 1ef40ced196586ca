import { assert, it } from "@effect/vitest"
import { Events, RunControl } from "@weft/core"
import { JournalStore, JsonText, pageBytesMax, Run, RunId } from "@weft/core/adapter"
import { Effect, Fiber, type Schema } from "effect"
import { TestClock } from "effect/testing"
import { allRuns, asHost, deployed, settle, world } from "../../world.ts"

const modules = { app: { main: { seen: Object.assign(() => "seen", { meta: { event: "order" } }) } } }

it.effect("replays a run if the results of its event's runs exceed one page", () =>
  Effect.gen(function* () {
    const env = yield* deployed("app")
    yield* asHost(
      env,
      Events.use((events) => events.publish({ type: "order", data: null }))
    )
    yield* settle
    const [run = assert.fail("there is no run")] = yield* allRuns(env)
    const result = JsonText.make(`"${"x".repeat(pageBytesMax / 4)}"`)
    const large = (n: number) =>
      Run.make({ ...run, run_id: RunId.make(`00000000-0000-7000-8000-00000000000${n}`), result })
    const entries = [1, 2, 3, 4].map((n) => ({ _tag: "Ended" as const, run: large(n), logs: [] }))
    yield* JournalStore.use((journal) => journal.commit(entries, null))

    yield* TestClock.adjust("1 minute")
    const asked = asHost(
      env,
      RunControl.use((control) => control.replay(run.run_id))
    )
    const replaying = yield* Effect.forkChild(asked)
    yield* settle
    const replayed = yield* Fiber.join(replaying)
    assert.strictEqual(replayed.run?.origin_run_id, run.run_id)
  }).pipe(Effect.provide(world(modules)))
)

/** Publishes an event for the function, and replays its run with other data. Returns the events and runs of both. */
const replayWith = Effect.fnUntraced(function* (
  env: Parameters<typeof asHost>[0],
  event: Parameters<Events["Service"]["publish"]>[0],
  data: Schema.Json,
  from?: string
) {
  const published = yield* asHost(
    env,
    Events.use((events) => events.publish(event))
  )
  yield* settle
  const [run = assert.fail("there is no run")] = yield* allRuns(env)
  const replaying = yield* Effect.forkChild(
    asHost(
      env,
      RunControl.use((control) => control.replay(run.run_id, "same", from, data))
    )
  )
  yield* settle
  return { published, replayed: run, ...(yield* Fiber.join(replaying)) }
})

const echoing = {
  app: {
    main: {
      seen: Object.assign((event: unknown) => event, { meta: { event: "order" } }),
      other: Object.assign(() => "other", { meta: { event: "order:*" } })
    }
  }
}

it.effect("replays a run with other data by an event of its own, for this function only", () =>
  Effect.gen(function* () {
    const env = yield* deployed("app")
    const { published, replayed, event, run } = yield* replayWith(env, { type: "order", data: { n: 1 } }, { n: 2 })
    assert.notStrictEqual(event.event_id, published.event_id)
    assert.strictEqual(event.event_data, '{"n":2}')
    assert.deepStrictEqual([event.event_type, event.stream_id], ["order", published.stream_id])
    assert.include(run, { origin_run_id: replayed.run_id, event_id: event.event_id, run_type: "run", attempt: 1 })
    const all = yield* allRuns(env)
    assert.deepStrictEqual(
      all.map((each) => [each.event_id, each.result?.includes('"n":2')]),
      [
        [event.event_id, true],
        [published.event_id, false]
      ]
    )
  }).pipe(Effect.provide(world(echoing)))
)

it.effect("refuses other data together with a step, and a call of another function", () =>
  Effect.gen(function* () {
    const env = yield* deployed("app")
    const call = { type: "svc:call", data: { fn: "main/seen", args: [1] } }
    const refused = yield* Effect.flip(replayWith(env, call, { fn: "main/other", args: [1] }))
    assert.strictEqual(refused.message, "event_data.fn must be main/seen: a replay runs the same function")
    const [run = assert.fail("there is no run")] = yield* allRuns(env)
    const withStep = asHost(
      env,
      RunControl.use((control) => control.replay(run.run_id, "same", "1", null))
    )
    assert.include((yield* Effect.flip(withStep)).message, "event_data cannot be combined with from")
    assert.strictEqual((yield* allRuns(env)).length, 1)
  }).pipe(Effect.provide(world(echoing)))
)
