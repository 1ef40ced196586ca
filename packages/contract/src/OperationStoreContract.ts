/** Contract of `OperationStore` together with the steps of operations and the journal of the same database. */
import { assert } from "@effect/vitest"
import {
  DeadLetterStore,
  type EventStore,
  JournalStore,
  JsonText,
  leastIdAt,
  OperationId,
  type OperationSelection,
  type OperationStep,
  OperationStore,
  type OperationTarget,
  RunControlStore,
  RunId,
  type StoredOperation
} from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { type Check, check, suite } from "./Check.ts"
import { claimAll, claimRequest, type JournalStores } from "./Claims.ts"
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
  nodeId,
  projectId,
  run,
  runHolding,
  runId,
  settled,
  waiting
} from "./Samples.ts"

type Stores = OperationStore | RunControlStore | DeadLetterStore | JournalStores | EventStore

export const operationStoreContract = <E>(adapter: string, layer: Layer.Layer<Stores, E>): void =>
  suite(`OperationStore contract: ${adapter}`, operationStoreChecks, layer)

const operationId = (n: number): OperationId =>
  OperationId.make(`01977420-00fe-7000-8000-${n.toString(16).padStart(12, "0")}`)

/** An operation of environment 1 on all failed runs. */
const operation = (n: number, fields: Partial<StoredOperation> = {}): StoredOperation => ({
  operation_id: operationId(n),
  env_id: envId(1),
  kind: "replay",
  state: "pending",
  filter: { status: "failed", fn: "main/onOrder" },
  options: { build: "deployed", rate: 5 },
  ...{ total: 3, done: 0, skipped: 0, failed: 0, failures: [], waiting: null, error: null },
  created_at: at(n),
  created_by: "host",
  ...{ started_at: null, ended_at: null, functions: null, last_run_id: runId(1000), after_run_id: null, fence: 0 },
  ...fields
})

const store = <A, E, R>(use: (store: OperationStore["Service"]) => Effect.Effect<A, E, R>) => OperationStore.use(use)
const insert = (one: StoredOperation, key: string | null = null) => store((operations) => operations.insert(one, key))
const get = (n: number, env = 1) => store((operations) => operations.get(envId(env), operationId(n)))
const acquire = (now: number) => store((operations) => operations.acquire(at(now), at(now + 30)))
const acquireNext = (now: number) => Effect.map(acquire(now), (found) => found ?? assert.fail("there is no operation"))
const advance = (of: StoredOperation, fields: Partial<OperationStep> = {}) =>
  RunControlStore.use((control) =>
    control.advance({
      operation: of,
      next: of.after_run_id,
      ...{ deliveries: [], redrives: [], cancels: [], skipped: 0, failed: 0, failures: [], waiting: null },
      ...{ at: at(100), until: at(200), end: null },
      ...fields
    })
  )

const commit = (...entries: Parameters<JournalStore["Service"]["commit"]>[0]) =>
  JournalStore.use((journal) => journal.commit(entries, null))

const over = (n: number, fields: Parameters<typeof ended>[1] = {}) =>
  ({ _tag: "Ended", run: ended(run(n), { status: "failed", ...fields }), logs: [] }) as const

const select = (fields: Partial<OperationSelection["filter"]>, rest: Partial<OperationSelection> = {}) => ({
  env_id: envId(1),
  functions: null,
  last_run_id: runId(1000),
  filter: fields,
  ...rest
})

const targets = (selection: OperationSelection, after: number | null = null, limit = 100) =>
  store((operations) => operations.targets(selection, after === null ? null : runId(after), limit))

const toIds = (found: ReadonlyArray<OperationTarget>) => found.map(({ run_id }) => run_id)

const isHeldByNobody = Effect.map(
  JournalStore.use((journal) => journal.findPendingWork(nodeId(1), at(50))),
  ({ operations }) => operations
)

const records: ReadonlyArray<Check<Stores>> = [
  check("stores operations, and lists those of an environment, newest first", function* () {
    const second = operation(2, { created_by: "api-key 1", functions: ["main/a", "p:main/b"], kind: "cancel" })
    for (const one of [operation(1), second, operation(3, { env_id: envId(2) })])
      assert.deepStrictEqual(yield* insert(one), one)
    assert.deepStrictEqual(yield* get(2), second)
    assert.strictEqual((yield* Effect.flip(get(2, 2)))._tag, "NotFound")
    const list = (listed: Parameters<OperationStore["Service"]["list"]>[2], page = everything) =>
      store((operations) => operations.list(envId(1), page, listed))
    assert.deepStrictEqual(yield* list({}), { items: [second, operation(1)], total: 2 })
    assert.deepStrictEqual(yield* list({}, { limit: 1, offset: 1 }), { items: [operation(1)], total: 2 })
    assert.deepStrictEqual(yield* list({ created_by: "host", state: "pending" }), { items: [operation(1)], total: 1 })
    assert.strictEqual((yield* list({ state: "running" })).total, 0)
    assert.strictEqual(yield* store((operations) => operations.countOpen(envId(1))), 2)
  }),

  check("stores one operation for an idempotency key of an environment", function* () {
    assert.deepStrictEqual(yield* insert(operation(1), "a"), operation(1))
    assert.deepStrictEqual(yield* insert(operation(2), "a"), operation(1))
    assert.deepStrictEqual(yield* insert(operation(3), "b"), operation(3))
    const other = operation(4, { env_id: envId(2) })
    assert.deepStrictEqual(yield* insert(other, "a"), other)
    assert.strictEqual((yield* Effect.flip(get(2)))._tag, "NotFound")
  }),

  check("gives the oldest operation of each environment to one node at a time, until its lease expires", function* () {
    for (const one of [operation(1), operation(2), operation(3, { env_id: envId(2) })]) yield* insert(one)
    const first = yield* acquireNext(10)
    assert.deepStrictEqual(first, operation(1, { state: "running", fence: 1, started_at: at(10) }))
    assert.strictEqual((yield* acquireNext(10)).operation_id, operationId(3))
    assert.isNull(yield* acquire(40))
    const taken = yield* acquireNext(41)
    assert.deepStrictEqual(taken, { ...first, fence: 2 })
    assert.isNull(yield* advance(first))
    yield* store((operations) => operations.release(first))
    assert.strictEqual((yield* acquireNext(45)).operation_id, operationId(3))
    assert.isNull(yield* acquire(45))
    yield* store((operations) => operations.release(taken))
    assert.strictEqual((yield* acquireNext(45)).fence, 3)
  }),

  check("ends an operation by a cancellation, from which on no step counts and the next one is free", function* () {
    yield* insert(operation(1))
    yield* insert(operation(2))
    const held = yield* acquireNext(10)
    const cancel = (env: number) => store((operations) => operations.cancel({ ...held, env_id: envId(env) }, at(20)))
    assert.strictEqual((yield* Effect.flip(cancel(2)))._tag, "NotFound")
    assert.isTrue(yield* cancel(1))
    assert.isFalse(yield* cancel(1))
    assert.isNull(yield* advance(held, { deliveries: [delivery(1)] }))
    assert.deepInclude(yield* get(1), { state: "cancelled", ended_at: at(20), done: 0 })
    assert.strictEqual((yield* acquireNext(20)).operation_id, operationId(2))
    assert.strictEqual(yield* store((operations) => operations.forget(at(20), 10)), 0)
    assert.strictEqual(yield* store((operations) => operations.forget(at(21), 10)), 1)
    assert.strictEqual((yield* Effect.flip(get(1)))._tag, "NotFound")
  }),

  check("reports to a poll that no node holds an operation", function* () {
    assert.isFalse(yield* isHeldByNobody)
    yield* insert(operation(1))
    assert.isTrue(yield* isHeldByNobody)
    const held = yield* acquireNext(40)
    assert.isFalse(yield* isHeldByNobody)
    yield* advance(held, { until: at(49) })
    assert.isTrue(yield* isHeldByNobody)
    yield* advance(yield* acquireNext(50), { end: { state: "succeeded", error: null } })
    assert.isFalse(yield* isHeldByNobody)
  })
]

const steps: ReadonlyArray<Check<Stores>> = [
  check("stores the deliveries of a step with its progress, once", function* () {
    yield* insert(operation(1))
    yield* commit({ _tag: "Appended", event: event(1), deliveries: [] })
    const held = yield* acquireNext(10)
    const step = { next: runId(7), deliveries: [delivery(1), delivery(2, event(1))], skipped: 3, failed: 1 }
    const failures = [{ run_id: runId(6), reason: "no build" }]
    const progress = yield* advance(held, { ...step, failures, waiting: "plan" })
    const after = { ...held, after_run_id: runId(7), done: 2, skipped: 3, failed: 1, failures, waiting: "plan" }
    assert.deepStrictEqual(progress, { operation: after, cancelled: [] })
    assert.deepStrictEqual(yield* get(1), after)
    // A repetition with another delivery.
    assert.isNull(yield* advance(held, { next: runId(7), deliveries: [delivery(3, event(1))] }))
    const { claims } = yield* claimAll(at(500))
    assert.deepStrictEqual(claims.map((claim) => claim.delivery.delivery_id).sort(), [deliveryId(1), deliveryId(2)])
    const end = yield* advance(after, { next: runId(8), end: { state: "failed", error: "broken" } })
    assert.deepStrictEqual(end?.operation, {
      ...after,
      ...{ after_run_id: runId(8), failures: [], waiting: null, state: "failed", error: "broken", ended_at: at(100) }
    })
    assert.isNull(yield* advance({ ...after, after_run_id: runId(8) }))
  }),

  check("cancels the running runs of a step, and counts the others as skipped", function* () {
    yield* insert(operation(1, { kind: "cancel" }))
    yield* commit(claimedOnInsert(1), claimedOnInsert(2), over(3), claimedOnInsert(4, 1, { env_id: envId(2) }))
    const held = yield* acquireNext(10)
    const cancels = [1, 2, 3, 4].map(runId)
    const progress = yield* advance(held, { next: runId(4), cancels })
    assert.deepStrictEqual(progress?.cancelled.map(({ run: { run_id, status } }) => [run_id, status]).sort(), [
      [runId(1), "cancelled"],
      [runId(2), "cancelled"]
    ])
    assert.deepInclude(yield* get(1), { done: 2, skipped: 2 })
  })
]

/** The end of a last attempt, without the mark of a dead letter. */
const failedLast = (n: number, fields: Parameters<typeof ended>[1] = {}) =>
  settled(n, ended(runHolding(n, delivery(n)), { status: "failed", ...fields }))

const dead = (n: number, fields: Parameters<typeof ended>[1] = {}) =>
  ({ ...failedLast(n, fields), isDead: true }) as const

const result = (name: string, message: string) => JsonText.make(JSON.stringify({ error: { name, message, stack: "" } }))

const letters: ReadonlyArray<Check<Stores>> = [
  check("selects dead letters for a redrive, and those that are dead since an instant", function* () {
    yield* commit(claimedOnInsert(1), claimedOnInsert(2), claimedOnInsert(3))
    yield* commit(dead(1, { stop_time: at(10) }), dead(2, { stop_time: at(20) }), failedLast(3))
    yield* commit(over(4))
    const redrive = (filter: OperationSelection["filter"]) => select(filter, { kind: "redrive" })
    for (const [selection, ids] of [
      [redrive({}), [1, 2]],
      [redrive({ since: at(20) }), [2]],
      [redrive({ fn: "main/none" }), []],
      [select({}), [1, 2, 3, 4]]
    ] as const) {
      assert.deepStrictEqual(toIds(yield* targets(selection)), ids.map(runId))
      assert.strictEqual(yield* store((operations) => operations.count(selection)), ids.length)
    }
  }),

  check("selects runs by the type of their event and by the text of their error", function* () {
    const { event_type } = event(1)
    yield* commit(claimedOnInsert(1), claimedOnInsert(2))
    yield* commit(
      dead(1, { result: result("TimeoutError", "no answer from BANK") }),
      dead(2, { result: result("TypeError", "no total") }),
      over(3, { result: result("TimeoutError", "no answer") })
    )
    for (const [filter, ids] of [
      [{ status: "failed", error: "timeout" }, [1, 3]],
      [{ status: "failed", error: "from bank" }, [1]],
      [{ error: "%" }, []],
      [{ event_type }, [1, 2]],
      [{ event_type, error: "total" }, [2]],
      [{ event_type: `${event_type}x` }, []]
    ] as const) {
      assert.deepStrictEqual(toIds(yield* targets(select(filter))), ids.map(runId), JSON.stringify(filter))
      assert.strictEqual(yield* store((operations) => operations.count(select(filter))), ids.length)
    }
  }),

  check("starts each dead letter of a step once, and counts the others as skipped", function* () {
    yield* insert(operation(1, { kind: "redrive", filter: { error: "broken" } }))
    yield* commit(claimedOnInsert(1), claimedOnInsert(2), claimedOnInsert(3, 1, { env_id: envId(2) }))
    yield* commit(dead(1), dead(2))
    yield* DeadLetterStore.use((marks) => marks.discard(envId(1), [runId(2)]))
    const held = yield* acquireNext(10)
    const redrives = [1, 2, 3].map((n) => ({ runId: runId(n), delivery: delivery(10 + n, event(1)) }))
    yield* advance(held, { next: runId(3), redrives })
    assert.deepInclude(yield* get(1), { kind: "redrive", done: 1, skipped: 2, filter: { error: "broken" } })
    assert.isNull(yield* advance(held, { next: runId(3), redrives }))
    const { claims } = yield* claimAll(at(500))
    assert.deepStrictEqual(
      claims.map((claim) => claim.delivery.delivery_id),
      [deliveryId(11)]
    )
    assert.deepStrictEqual(toIds(yield* targets(select({}, { kind: "redrive" }))), [])
  })
]

const selections: ReadonlyArray<Check<Stores>> = [
  check("selects runs by the filter, the functions of the caller, the last id and the position", function* () {
    const late = leastIdAt(RunId, at(5000))
    const shop = { project_id: projectId(2), project_name: "shop", ns: "other", var: "fn" }
    yield* commit(
      over(1),
      over(2, { status: "succeeded" }),
      over(3, { run_type: "event", ...shop }),
      over(4, { env_id: envId(2) }),
      over(5),
      { _tag: "Started", run: run(6) },
      over(7),
      over(8, { run_id: late, start_time: at(5000) })
    )
    const failed = { status: "failed" } as const
    const cases: ReadonlyArray<readonly [OperationSelection, ReadonlyArray<number>]> = [
      [select({}), [1, 2, 3, 5, 6, 7]],
      [select(failed), [1, 3, 5, 7]],
      [select(failed, { last_run_id: runId(5) }), [1, 3, 5]],
      [select({ ...failed, type: "event" }), [3]],
      [select({ ...failed, project: "shop" }), [3]],
      [select({ ...failed, project: projectId(2) }), [3]],
      [select({ ...failed, fn: "main/onOrder" }), [1, 5, 7]],
      [select({ ...failed, fn: "shop:other/fn" }), [3]],
      [select({ waiting: "any" }), []],
      [select({}, { functions: ["other/fn", "project 1:main/none"] }), [3]],
      [select({ fn: "main/onOrder" }, { functions: ["other/fn"] }), []],
      [select({}, { functions: [] }), []],
      [select({}, { env_id: envId(2) }), [4]]
    ]
    for (const [selection, ids] of cases) {
      assert.deepStrictEqual(toIds(yield* targets(selection)), ids.map(runId))
      assert.strictEqual(yield* store((operations) => operations.count(selection)), ids.length)
    }
    const recent = select({ since: at(5000) }, { last_run_id: late })
    assert.deepStrictEqual(toIds(yield* targets(recent)), [late])
    assert.strictEqual(yield* store((operations) => operations.count(recent)), 1)
    assert.deepStrictEqual(toIds(yield* targets(select({}), 2, 2)), [runId(3), runId(5)])
    const [first] = yield* targets(select(failed))
    assert.deepStrictEqual(first, {
      ...{ env_id: envId(1), run_id: runId(1), project_id: projectId(1), build_id: buildId(1), ns: "main" },
      ...{ var: "onOrder", event_id: null, activations: null, is_retried: false, event_bytes: 0 }
    })
  }),

  check("recognizes runs whose delivery has a later attempt or waits for one, and lost runs", function* () {
    // Run 1 fails and its delivery waits; run 2 fails for good.
    yield* commit(claimedOnInsert(1), claimedOnInsert(2))
    const failed = (n: number) => ended(runHolding(n, delivery(n)), { status: "failed" })
    yield* commit(settled(1, failed(1), { attempt: 2, due_at: at(900), first_run_id: runId(1) }), settled(2, failed(2)))
    const retried = Effect.map(targets(select({ fn: "main/onOrder" })), (found) =>
      found.map(({ run_id, is_retried, event_bytes }) => [run_id, is_retried, event_bytes])
    )
    const bytes = event(1).event_data.length
    assert.deepStrictEqual(yield* retried, [
      [runId(1), true, bytes],
      [runId(2), false, bytes]
    ])
    const { claims } = yield* claimAll(at(900), { runIds: claimRequest(at(900)).runIds.slice(0, 1) })
    const [second] = claims
    assert.isDefined(second)
    assert.deepStrictEqual(yield* targets(select({ event_id: eventId(1) }, { last_run_id: runId(9) })), [
      ...(yield* targets(select({}), null, 1))
    ])
    assert.isTrue((yield* targets(select({ event_id: eventId(1) })))[0]?.is_retried)
    // A replay of run 2 is another delivery, and its first attempt is lost with its node.
    const replay = runHolding(20, delivery(2), { run_type: "run", origin_run_id: runId(2) })
    yield* commit(
      { _tag: "Ended", run: ended(replay, { status: "failed" }), logs: [] },
      { _tag: "Ended", run: ended({ ...replay, run_id: runId(21) }, { status: "failed" }), logs: [] }
    )
    const ofEvent = yield* targets(select({ event_id: eventId(2) }))
    assert.deepStrictEqual(
      ofEvent.map(({ run_id, is_retried }) => [run_id, is_retried]),
      [
        [runId(2), false],
        [runId(20), true],
        [runId(21), false]
      ]
    )
  }),

  check("counts due deliveries of an environment up to a limit", function* () {
    yield* commit(waiting(1), waiting(2), waiting(3, {}, { due_at: at(900) }), waiting(4, { env_id: envId(2) }))
    const countDue = (limit: number) => store((operations) => operations.countDue(envId(1), at(100), limit))
    assert.deepStrictEqual([yield* countDue(10), yield* countDue(1)], [2, 1])
  })
]

const operationStoreChecks: ReadonlyArray<Check<Stores>> = [...records, ...steps, ...letters, ...selections]
