/** Contract of `DeadLetterStore` together with the journal of the same database. Adapters run this suite. */
import { assert } from "@effect/vitest"
import {
  type DeadLetterFilter,
  DeadLetterStore,
  DeliveryStore,
  JournalStore,
  JsonText,
  listedResultMax,
  type Redrive,
  RunStore
} from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { type Check, check, suite } from "./Check.ts"
import type { JournalStores } from "./Claims.ts"
import {
  at,
  buildId,
  claimedOnInsert,
  delivery,
  deliveryId,
  ended,
  envId,
  event,
  eventId,
  everything,
  hostileText,
  nodeId,
  projectId,
  run,
  runHolding,
  runId,
  settled,
  streamId
} from "./Samples.ts"

type Stores = DeadLetterStore | DeliveryStore | JournalStores | RunStore

export const deadLetterStoreContract = <E>(adapter: string, layer: Layer.Layer<Stores, E>): void =>
  suite(`DeadLetterStore contract: ${adapter}`, deadLetterStoreChecks, layer)

type Entry = Parameters<JournalStore["Service"]["commit"]>[0][number]

const commit = (...entries: ReadonlyArray<Entry>) => JournalStore.use((journal) => journal.commit(entries, null))

const failure = JsonText.make(JSON.stringify({ error: { name: "Error", message: hostileText, stack: "" } }))

interface Sample {
  readonly env?: number
  readonly type?: string
  readonly fn?: string
  readonly project?: number
  readonly result?: JsonText
}

/** Publishes event `n` and fails its only attempt at instant `n` + 5, as a dead letter. */
const die = Effect.fnUntraced(function* (n: number, sample: Sample = {}) {
  const published = event(n, { env_id: envId(sample.env ?? 1), event_type: sample.type ?? "order:created" })
  const project = { project_id: projectId(sample.project ?? 1), project_name: `project ${sample.project ?? 1}` }
  const held = delivery(n, published, { var: sample.fn ?? "onOrder", ...project })
  const claimed = runHolding(n, held, { node_id: nodeId(1) })
  const over = ended(claimed, { status: "failed", result: sample.result ?? failure })
  yield* commit({ _tag: "Appended", event: published, deliveries: [{ delivery: held, run: claimed }] })
  const isCounted = yield* commit({ ...dead(n), run: over })
  assert.deepStrictEqual(isCounted, [true])
})

/** The end of run `n` as a dead letter. */
const dead = (n: number) =>
  ({
    _tag: "Settled",
    run: ended(run(n), { status: "failed", result: failure }),
    logs: [],
    deliveryId: deliveryId(n),
    next: null,
    isDead: true
  }) satisfies Entry

const listed = (filter: DeadLetterFilter = {}, env = 1) =>
  Effect.gen(function* () {
    const store = yield* DeadLetterStore
    const items = yield* store.list(envId(env), everything, filter)
    assert.strictEqual(yield* store.count(envId(env), filter, 100), items.length)
    const forward = yield* store.after(envId(env), filter, null, 100)
    assert.deepStrictEqual(
      forward.map(({ run_id }) => run_id),
      items.map(({ run_id }) => run_id).reverse()
    )
    return items.map(({ run_id }) => run_id)
  })

const redriveOf = (n: number): Redrive => ({
  runId: runId(n),
  delivery: delivery(100 + n, event(n), { run_type: "run", due_at: at(500) })
})

const pending = Effect.map(
  DeliveryStore.use((store) => store.list(envId(1), everything, {})),
  (items) => items.map(({ delivery_id }) => delivery_id)
)

const deadLetterStoreChecks: ReadonlyArray<Check<Stores>> = [
  check("lists letters, the latest first, with their errors and the types of their events", function* () {
    yield* die(1)
    yield* die(2)
    yield* commit(claimedOnInsert(3))
    assert.deepStrictEqual(yield* listed(), [runId(2), runId(1)])
    const store = yield* DeadLetterStore
    const [second] = yield* store.list(envId(1), { limit: 1, offset: 1 }, {})
    assert.deepStrictEqual(
      { ...second },
      {
        ...{ env_id: envId(1), run_id: runId(1), event_id: eventId(1), event_ids: null, stream_id: streamId(1) },
        ...{ project_id: projectId(1), project_name: "project 1", build_id: buildId(1), ns: "main", var: "onOrder" },
        ...({ run_type: "event", status: "failed", start_time: at(1), attempt: 1, activations: null } as const),
        ...{ result: failure, event_type: "order:created", dead_since: at(6) }
      }
    )
  }),

  check(
    "marks nothing but letters: no retry, no failed call of a client, no run that another node has ended",
    function* () {
      yield* commit(claimedOnInsert(1), claimedOnInsert(2), { _tag: "Started", run: run(3) })
      const failed = (n: number) =>
        ended(run(n, { event_id: eventId(n), run_type: "event" }), { status: "failed", result: failure })
      yield* commit(
        settled(1, failed(1), { attempt: 2, due_at: at(700), first_run_id: runId(1) }),
        settled(2, failed(2)),
        {
          _tag: "Ended",
          run: ended(run(3), { status: "failed", result: failure }),
          logs: []
        }
      )
      assert.deepStrictEqual(yield* commit(dead(2)), [false])
      assert.deepStrictEqual(yield* listed(), [])
    }
  ),

  check("selects letters by project, function, event type, time and id, of one environment", function* () {
    yield* die(1)
    yield* die(2, { type: "other", fn: "onOther", project: 2 })
    yield* die(3, { env: 2 })
    const [one, two] = [[runId(1)], [runId(2)]]
    assert.deepStrictEqual(yield* listed({}, 2), [runId(3)])
    assert.deepStrictEqual(yield* listed({ only: ["project 2"] }), two)
    assert.deepStrictEqual(yield* listed({ only: [projectId(1)] }), one)
    assert.deepStrictEqual(yield* listed({ only: [] }), [])
    assert.deepStrictEqual(yield* listed({ project: "project 2" }), two)
    assert.deepStrictEqual(
      yield* listed({ functions: [["main/onOther", "main/onOrder"], ["project 2:main/onOther"]] }),
      two
    )
    assert.deepStrictEqual(yield* listed({ eventType: "other" }), two)
    assert.deepStrictEqual(yield* listed({ since: at(7) }), two)
    assert.deepStrictEqual(yield* listed({ until: at(7) }), one)
    assert.deepStrictEqual(yield* listed({ runIds: [runId(1), runId(3), runId(9)] }), one)
    assert.deepStrictEqual(yield* listed({ runIds: [] }), [])
  }),

  check("continues behind a position, also among letters of one instant", function* () {
    for (const n of [1, 2, 3]) yield* die(n)
    const store = yield* DeadLetterStore
    const [first] = yield* store.after(envId(1), {}, null, 1)
    const rest = yield* store.after(envId(1), {}, first ?? null, 10)
    assert.deepStrictEqual(
      [first, ...rest].map((letter) => letter?.run_id),
      [runId(1), runId(2), runId(3)]
    )
    const sameTime = yield* store.after(envId(1), {}, { dead_since: at(7), run_id: runId(1) }, 10)
    assert.deepStrictEqual(
      sameTime.map(({ run_id }) => run_id),
      [runId(2), runId(3)]
    )
    assert.strictEqual(yield* store.count(envId(1), {}, 2), 2)
  }),

  check("lists a letter without its result if that is large", function* () {
    yield* die(1, { result: JsonText.make(JSON.stringify("x".repeat(listedResultMax))) })
    const store = yield* DeadLetterStore
    const [letter] = yield* store.list(envId(1), everything, {})
    assert.deepInclude(letter, { run_id: runId(1), result: null })
  }),

  check("starts a redriven letter once, and only letters of the environment", function* () {
    for (const n of [1, 2]) yield* die(n)
    const store = yield* DeadLetterStore
    assert.deepStrictEqual(yield* store.redrive(envId(2), [redriveOf(1)]), [])
    const twice = { ...redriveOf(1), delivery: { ...redriveOf(1).delivery, delivery_id: deliveryId(200) } }
    const all = yield* Effect.all([store.redrive(envId(1), [redriveOf(1)]), store.redrive(envId(1), [twice])], {
      concurrency: 2
    })
    assert.deepStrictEqual(all.flat(), [runId(1)])
    assert.strictEqual((yield* pending).length, 1)
    assert.deepStrictEqual(yield* listed(), [runId(2)])
    assert.deepStrictEqual([...(yield* store.redrive(envId(1), [redriveOf(1), redriveOf(2)]))], [runId(2)])
    assert.include(yield* pending, deliveryId(102))
    assert.deepStrictEqual(yield* listed(), [])
  }),

  check("discards letters, whose runs stay", function* () {
    for (const n of [1, 2]) yield* die(n)
    const store = yield* DeadLetterStore
    assert.deepStrictEqual(yield* store.discard(envId(2), [runId(1)]), [])
    assert.deepStrictEqual(yield* store.discard(envId(1), [runId(1), runId(9)]), [runId(1)])
    assert.deepStrictEqual(yield* store.discard(envId(1), [runId(1)]), [])
    assert.deepStrictEqual(yield* listed(), [runId(2)])
    assert.deepStrictEqual(yield* pending, [])
    const kept = yield* RunStore.use((runs) => runs.get(envId(1), runId(1)))
    assert.deepInclude(kept, { status: "failed", result: failure })
  }),

  check("removes a letter with its run", function* () {
    for (const n of [1, 2]) yield* die(n)
    const journal = yield* JournalStore
    assert.strictEqual(yield* journal.purge(envId(1), runId(2), 10), 1)
    assert.deepStrictEqual(yield* listed(), [runId(2)])
  })
]
