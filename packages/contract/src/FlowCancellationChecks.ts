/** Checks of events that cancel deliveries and runs: newer ones of a group (`singleton`), and others with a key (`cancelOn`). */
import { assert } from "@effect/vitest"
import { AdmissionStore, cancelledByMessage, type FlowRule, JournalStore, replacedMessage } from "@weft/core/adapter"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import {
  admission,
  admit,
  claim,
  dedupe,
  endAll,
  type FlowStores,
  ids,
  idsOf,
  one,
  type Published
} from "./FlowSamples.ts"
import { at, ended, event, eventId, nodeId, runId } from "./Samples.ts"
import { advanced, commit, sleep, started, suspension } from "./WorkflowSamples.ts"

const replace: FlowRule = { _tag: "Replace" }

/** Admits delivery `n`, which replaces those of its group. Returns what it replaced. */
const admitReplacing = (n: number, published: Published = {}, before: ReadonlyArray<FlowRule> = []) =>
  AdmissionStore.use((store) =>
    store.admit(admission(n, [...before, replace], { ...published, fields: { ...one, ...published.fields } }))
  ).pipe(Effect.map((outcome) => (outcome._tag === "Stored" ? outcome.replaced : undefined)))

const replacements: ReadonlyArray<Check<FlowStores>> = [
  check("a delivery that replaces others removes the pending one of its group", function* () {
    assert.isUndefined(yield* admitReplacing(1))
    const replaced = yield* admitReplacing(2)
    assert.deepStrictEqual(replaced, { runs: [], events: [eventId(1)] })
    assert.deepStrictEqual(idsOf(yield* claim(10)), ids(2))
  }),

  check("a delivery that replaces others cancels the running one of its group, with the reason", function* () {
    yield* admitReplacing(1)
    const running = yield* claim(10)
    assert.deepStrictEqual(idsOf(running), ids(1))
    const replaced = yield* admitReplacing(2, { now: 20 })
    assert.deepStrictEqual(replaced?.events, [])
    assert.deepStrictEqual(
      replaced?.runs.map(({ run, group }) => [run.run_id, run.status, run.stop_time, group]),
      running.claims.map(({ run }) => [run.run_id, "cancelled", at(20), "g"])
    )
    assert.include(replaced?.runs[0]?.run.result, replacedMessage)
    assert.deepStrictEqual(yield* endAll(running, 30), [false])
    assert.deepStrictEqual(idsOf(yield* claim(30)), ids(2))
  }),

  check("a delivery that replaces others cancels a suspended run of its group, and its waits", function* () {
    yield* commit(started(1, nodeId(1), {}, one))
    yield* commit(advanced(1, { waits: [sleep(1, 500)], suspension: suspension(500) }))
    const replaced = yield* admitReplacing(2, { now: 200 })
    assert.deepStrictEqual(
      replaced?.runs.map(({ run }) => [run.run_id, run.status, run.waiting]),
      [[runId(1), "cancelled", null]]
    )
    assert.deepStrictEqual(replaced?.events, [])
    assert.deepStrictEqual(idsOf(yield* claim(600)), ids(2))
  }),

  check("a delivery that replaces others leaves those of other groups and environments", function* () {
    yield* admitReplacing(1)
    yield* admitReplacing(2, { env: 2 })
    yield* admitReplacing(3, { fields: { group: { key: "other", limit: 1 } } })
    assert.deepStrictEqual(idsOf(yield* claim(10)), ids(1, 2, 3))
  }),

  check("a delivery that another rule drops replaces none", function* () {
    yield* admitReplacing(1, {}, [dedupe])
    assert.isUndefined(yield* admitReplacing(2, {}, [dedupe]))
    assert.deepStrictEqual(idsOf(yield* claim(10)), ids(1))
  }),

  check("many concurrent deliveries that replace each other leave one, while nodes claim", function* () {
    const replacing = Effect.forEach(
      Array.from({ length: 20 }, (_, index) => index + 1),
      (n) => admitReplacing(n),
      { concurrency: "unbounded" }
    )
    const claiming = Effect.forEach([1, 2, 3, 4, 5], (node) => claim(0, node), { concurrency: "unbounded" })
    const [replaced, claimed] = yield* Effect.all([replacing, claiming], { concurrency: "unbounded" })
    const before = claimed.flatMap(({ claims }) => claims.map(({ run }) => run.run_id))
    const after = (yield* claim(10, 6)).claims.map(({ run }) => run.run_id)
    const cancelled = replaced.flatMap((each) => each?.runs.map(({ run }) => run.run_id) ?? [])
    const removed = replaced.flatMap((each) => each?.events ?? [])
    assert.strictEqual(new Set([...cancelled, ...removed]).size, 19)
    const left = [...before, ...after].filter((id) => !cancelled.includes(id))
    assert.strictEqual(left.length, 1)
  })
]

/** Admits event `n`, which cancels deliveries and runs with one of the keys. Returns what it cancelled. */
const admitCancelling = (n: number, cancels: ReadonlyArray<string>, published: Published = {}) =>
  AdmissionStore.use((store) => store.admit({ ...admission(n, [], published), deliveries: [], cancels })).pipe(
    Effect.map((outcome) => (outcome._tag === "Stored" ? outcome.replaced : undefined))
  )

const cancellable = (cancel_key: string) => ({ fields: { cancel_key } })

const cancellations: ReadonlyArray<Check<FlowStores>> = [
  check("an event cancels pending deliveries and running runs of its keys, and no others", function* () {
    yield* admit(1, [], cancellable("a"))
    yield* admit(2, [], cancellable("b"))
    const running = yield* claim(10)
    yield* admit(3, [], { ...cancellable("a"), now: 20 })
    yield* admit(4, [], { ...cancellable("a"), now: 20, env: 2 })
    yield* admit(5, [], { now: 20 })
    const cancelled = yield* admitCancelling(9, ["a", "c"], { now: 30 })
    const first = running.claims.filter(({ delivery: { cancel_key } }) => cancel_key === "a")
    assert.deepStrictEqual(cancelled?.events, [eventId(3)])
    assert.deepStrictEqual(
      cancelled?.runs.map(({ run }) => [run.run_id, run.status, run.stop_time]),
      first.map(({ run }) => [run.run_id, "cancelled" as const, at(30)])
    )
    assert.include(cancelled?.runs[0]?.run.result, cancelledByMessage(event(9)))
    assert.deepStrictEqual((yield* endAll(running, 40)).filter(Boolean).length, 1)
    assert.deepStrictEqual(idsOf(yield* claim(40)), ids(4, 5))
  }),

  check("an event cancels no delivery of a later event", function* () {
    yield* admit(5, [], cancellable("a"))
    assert.isUndefined(yield* admitCancelling(3, ["a"]))
    assert.deepStrictEqual(idsOf(yield* claim(10)), ids(5))
  }),

  check("an event cancels a suspended run, and one that continued", function* () {
    for (const n of [1, 2]) {
      yield* commit(started(n, nodeId(1), {}, { cancel_key: "a" }))
      yield* commit(advanced(n, { waits: [sleep(1, 500)], suspension: suspension(500 * n) }))
    }
    const continued = yield* claim(600)
    assert.deepStrictEqual(
      continued.claims.map(({ run, delivery: { cancel_key } }) => [run.run_id, cancel_key]),
      [[runId(1), "a"]]
    )
    const cancelled = yield* admitCancelling(9, ["a"], { now: 700 })
    assert.deepStrictEqual(cancelled?.runs.map(({ run }) => [run.run_id, run.status]).sort(), [
      [runId(1), "cancelled"],
      [runId(2), "cancelled"]
    ])
    assert.deepStrictEqual(idsOf(yield* claim(2_000)), [])
  }),

  check("an event cancels the next attempt of a delivery", function* () {
    yield* admit(1, [], cancellable("a"))
    const { claims } = yield* claim(10)
    yield* JournalStore.use((journal) =>
      journal.commit(
        claims.map(({ run, delivery: { delivery_id } }) => ({
          ...{ _tag: "Settled", run: ended(run, { status: "failed" }), logs: [], deliveryId: delivery_id },
          next: { attempt: 2, due_at: at(500), first_run_id: run.run_id }
        })),
        null
      )
    )
    assert.deepStrictEqual(yield* admitCancelling(9, ["a"], { now: 30 }), { runs: [], events: [eventId(1)] })
    assert.deepStrictEqual(idsOf(yield* claim(600)), [])
  }),

  check("no delivery remains of those that an event cancels while nodes claim them", function* () {
    for (let n = 1; n <= 20; n++) yield* admit(n, [], cancellable("a"))
    const claiming = Effect.forEach([1, 2, 3, 4, 5], (node) => claim(0, node), { concurrency: "unbounded" })
    const [cancelled] = yield* Effect.all([admitCancelling(99, ["a"]), claiming], { concurrency: "unbounded" })
    assert.strictEqual((cancelled?.runs.length ?? 0) + (cancelled?.events.length ?? 0), 20)
    assert.deepStrictEqual(idsOf(yield* claim(100, 6)), [])
  })
]

export const flowCancellationChecks: ReadonlyArray<Check<FlowStores>> = [...replacements, ...cancellations]
