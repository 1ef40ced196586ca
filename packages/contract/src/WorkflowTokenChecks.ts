/** Contract of `WorkflowTokenStore`: tokens of durable runs, and their races with waits, suspensions and ends. */
import { assert } from "@effect/vitest"
import {
  formatCompletion,
  JournalStore,
  type JsonText,
  parkedAt,
  toJsonText,
  type WorkflowToken,
  WorkflowTokenStore
} from "@weft/core/adapter"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import { claimAll } from "./Claims.ts"
import { at, deliveryId, envId, nodeId, runId, runIds } from "./Samples.ts"
import {
  active,
  advanced,
  arrive,
  awaitPaid,
  awaitToken,
  cancelRun,
  commit,
  history,
  paid,
  settledWith,
  sleep,
  started,
  step,
  suspension,
  token,
  type WorkflowStores
} from "./WorkflowSamples.ts"

const create = (of: WorkflowToken, delivery = 1) =>
  WorkflowTokenStore.use((store) => store.create(of, deliveryId(delivery)))

const get = (n: number, seq = 0) => WorkflowTokenStore.use((store) => store.get(token(n, seq)))

const complete = (n: number, data: JsonText = yes, now = 200, seq = 0) =>
  WorkflowTokenStore.use((store) => store.complete(token(n, seq), data, at(now)))

const expire = (n: number, seq = 0) => WorkflowTokenStore.use((store) => store.expire(token(n, seq)))

const yes = toJsonText({ approved: true, note: "\u0000\ud800 🧵" })

/** Starts run `n` with its token 0. */
const begin = Effect.fnUntraced(function* (n: number, fields: Partial<WorkflowToken> = {}) {
  yield* commit(started(n))
  assert.isNotNull(yield* create(token(n, 0, fields), n))
})

const claimedAt = (now: number) =>
  Effect.map(claimAll(at(now), { runIds: runIds(100_000, 100) }), ({ claims }) =>
    claims.map(({ run }) => run.run_id).sort()
  )

const ids = (...numbers: ReadonlyArray<number>) => numbers.map(runId)

const completed = (n: number, data: JsonText = yes, now = 200): WorkflowToken =>
  token(n, 0, { state: "completed", completed_at: at(now), result: data })

const records: ReadonlyArray<Check<WorkflowStores>> = [
  check("creates a token once, for the holder of the run only", function* () {
    yield* commit(started(1), started(2))
    assert.deepStrictEqual(yield* create(token(1, 0)), token(1, 0))
    const again = token(1, 0, { name: "other", token_hash: "f".repeat(64), expires_at: at(9) })
    assert.deepStrictEqual(yield* create(again), token(1, 0))
    assert.deepStrictEqual(yield* create(token(1, 3)), token(1, 3))
    assert.isNull(yield* create(token(2, 0), 1))
    assert.isNull(yield* create(token(2, 0, { env_id: envId(2) }), 2))
    assert.isNull(yield* create(token(9, 0), 9))
    yield* commit(settledWith(active(2).run, deliveryId(2)))
    assert.isNull(yield* create(token(2, 0), 2))
    assert.isNull(yield* get(2))
  }),

  check("of twenty concurrent creations, one is stored", function* () {
    yield* commit(started(1))
    const made = yield* Effect.forEach(
      Array.from({ length: 20 }, (_, index) => token(1, 0, { token_hash: `${index}`.padStart(64, "a") })),
      (each) => create(each),
      { concurrency: "unbounded" }
    )
    assert.strictEqual(new Set(made.map((each) => each?.token_hash)).size, 1)
    assert.deepStrictEqual(yield* get(1), made[0])
  }),

  check("finds tokens by hash, by run and by name", function* () {
    yield* begin(1)
    yield* begin(2, { name: "same", expires_at: at(70) })
    yield* create(token(2, 10, { name: "same" }), 2)
    yield* create(token(2, 2), 2)
    const store = yield* WorkflowTokenStore
    const run = { env_id: envId(1), run_id: runId(2) }
    const tokens = [token(2, 0, { name: "same", expires_at: at(70) }), token(2, 2), token(2, 10, { name: "same" })]
    assert.deepStrictEqual(yield* store.list(run), tokens)
    assert.deepStrictEqual(yield* store.list({ ...run, env_id: envId(2) }), [])
    assert.deepStrictEqual(yield* store.find(token(1, 0).token_hash), { token: token(1, 0), isRunning: true })
    assert.isNull(yield* store.find("0".repeat(64)))
    assert.deepStrictEqual(yield* store.findNamed(run, "same"), { token: tokens[2], isRunning: true })
    assert.isNull(yield* store.findNamed(run, "none"))
    assert.isNull(yield* store.findNamed({ ...run, env_id: envId(2) }, "same"))
    assert.isNull(yield* store.get({ ...token(1, 0), env_id: envId(2) }))
    yield* commit(settledWith(active(2).run, deliveryId(2)))
    assert.isFalse((yield* store.findNamed(run, "same"))?.isRunning)
  }),

  check("completes a token once", function* () {
    yield* begin(1)
    assert.deepStrictEqual(yield* complete(1), { token: completed(1), isRunning: true, isNew: true })
    const second = yield* complete(1, toJsonText(2), 300)
    assert.deepStrictEqual(second, { token: completed(1), isRunning: true, isNew: false })
    assert.deepStrictEqual(yield* get(1), completed(1))
    assert.isNull(yield* complete(1, yes, 200, 7))
    assert.isNull(
      yield* WorkflowTokenStore.use((store) => store.complete({ ...token(1, 0), env_id: envId(2) }, yes, at(1)))
    )
  }),

  check("completes no token after its time, or after it has expired", function* () {
    yield* begin(1, { expires_at: at(200) })
    yield* begin(2, { expires_at: at(201) })
    yield* begin(3)
    assert.deepStrictEqual(
      [(yield* complete(1))?.isNew, (yield* complete(2))?.isNew, (yield* complete(3))?.isNew],
      [false, true, true]
    )
    assert.deepStrictEqual(yield* expire(1), token(1, 0, { state: "expired", expires_at: at(200) }))
    assert.strictEqual((yield* complete(1, yes, 10))?.isNew, false)
    assert.deepStrictEqual(yield* expire(3), completed(3))
    assert.isNull(yield* expire(9))
  }),

  check("completes no token of an ended run", function* () {
    yield* begin(1)
    yield* begin(2)
    yield* commit(settledWith(active(1).run, deliveryId(1)))
    yield* cancelRun(2)
    for (const n of [1, 2]) {
      assert.deepStrictEqual(yield* complete(n), { token: token(n, 0), isRunning: false, isNew: false })
    }
  }),

  check("removes the tokens of purged runs", function* () {
    yield* begin(1)
    yield* begin(2)
    yield* commit(settledWith(active(1).run, deliveryId(1)))
    yield* JournalStore.use((journal) => journal.purge(envId(1), runId(99), 10))
    assert.isNull(yield* get(1))
    assert.isNotNull(yield* get(2))
  })
]

const waking: ReadonlyArray<Check<WorkflowStores>> = [
  check("gives the data to the waits for the token, and makes the run due", function* () {
    yield* begin(1)
    yield* begin(2)
    yield* create(token(1, 1), 1)
    const waits = [awaitToken(2, 0), awaitToken(3, 1), awaitPaid(4), sleep(5, 9000), awaitToken(6, 0)]
    yield* commit(advanced(1, { waits, suspension: suspension(9000) }))
    yield* commit(advanced(2, { waits: [awaitToken(2, 0)], suspension: suspension(150) }))
    yield* complete(1)
    yield* complete(2)
    const given = formatCompletion(yes)
    const outcomes = (yield* history(1)).waits.map(({ outcome }) => outcome)
    assert.deepStrictEqual(outcomes, [given, null, null, null, given])
    const { claims, next_due_at } = yield* claimAll(at(200), { runIds: runIds(800, 9) })
    assert.deepStrictEqual(
      claims.map(({ run, delivery }) => [run.run_id, delivery.due_at]),
      [
        [runId(2), at(150)],
        [runId(1), at(200)]
      ]
    )
    assert.isNull(next_due_at)
  }),

  check("leaves a parked delivery parked", function* () {
    const group = { key: "g", limit: 1 }
    yield* commit(started(1, nodeId(1), {}, { group }), started(2, nodeId(1), {}, { group: { key: "g", limit: 9 } }))
    yield* create(token(1, 0))
    yield* commit(advanced(1, { waits: [awaitToken(1, 0)], suspension: suspension(10) }))
    assert.strictEqual((yield* claimAll(at(100), { runIds: runIds(800, 9) })).parked, 1)
    yield* complete(1)
    assert.deepStrictEqual(yield* claimedAt(parkedAt - at(0) - 1), [])
  }),

  check("a run that is suspended after the completion is due at once", function* () {
    yield* begin(1)
    yield* begin(2)
    const waits = [awaitToken(1, 0), sleep(2, 9000)]
    yield* commit(advanced(1, { waits }), advanced(2, { waits }))
    yield* complete(1)
    yield* complete(2)
    yield* commit(advanced(1, { at: at(300), suspension: suspension(9000) }))
    // The function has received this completion.
    yield* commit(advanced(2, { at: at(300), steps: [step(0, { seq: 1 })], suspension: suspension(9000) }))
    assert.deepStrictEqual(yield* claimedAt(299), [])
    assert.deepStrictEqual(yield* claimedAt(300), ids(1))
  }),

  check("a wait that is written again keeps its completion", function* () {
    yield* begin(1)
    yield* commit(advanced(1, { waits: [awaitToken(1, 0)] }))
    yield* complete(1)
    assert.deepStrictEqual(yield* commit(advanced(1, { waits: [awaitToken(1, 0)] })), [true])
    assert.deepStrictEqual(
      (yield* history(1)).waits.map(({ outcome }) => outcome),
      [formatCompletion(yes)]
    )
  })
]

const races: ReadonlyArray<Check<WorkflowStores>> = [
  check("of forty concurrent completions, one counts", function* () {
    yield* begin(1)
    yield* commit(advanced(1, { waits: [awaitToken(1, 0)], suspension: suspension(9000) }))
    const results = yield* Effect.forEach(
      Array.from({ length: 40 }, (_, index) => toJsonText(index)),
      (data) => Effect.map(complete(1, data), (done) => (done?.isNew === true ? [data] : [])),
      { concurrency: "unbounded" }
    )
    const [winner, ...others] = results.flat()
    assert.isDefined(winner)
    assert.deepStrictEqual(others, [])
    assert.strictEqual((yield* get(1))?.result, winner)
    assert.deepStrictEqual(
      (yield* history(1)).waits.map(({ outcome }) => outcome),
      [formatCompletion(winner)]
    )
    assert.deepStrictEqual(yield* claimedAt(200), ids(1))
  }),

  check("a token is completed or expires, whatever happens at the same time", function* () {
    const runs = Array.from({ length: 30 }, (_, index) => index + 1)
    yield* Effect.forEach(runs, (n) => begin(n))
    const outcomes = yield* Effect.forEach(
      runs,
      (n) => Effect.all([complete(n), expire(n)], { concurrency: "unbounded" }),
      { concurrency: "unbounded" }
    )
    for (const [index, [completion, expired]] of outcomes.entries()) {
      const stored = yield* get(index + 1)
      assert.strictEqual(completion?.isNew === true ? "completed" : "expired", stored?.state)
      assert.deepStrictEqual(expired, stored)
    }
  }),

  check("no completion is lost while waits are stored and runs are suspended", function* () {
    const runs = Array.from({ length: 40 }, (_, index) => index + 1)
    yield* Effect.forEach(runs, (n) => begin(n))
    /** As an activation does: it reads the token after its wait is stored, and suspends the run if it is pending. */
    const hold = Effect.fnUntraced(function* (n: number) {
      yield* commit(advanced(n, { waits: [awaitToken(1, 0)] }))
      if ((yield* get(n))?.state === "completed") return true
      yield* commit(advanced(n, { suspension: suspension(9000) }))
      return false
    })
    const results = yield* Effect.forEach(
      runs,
      (n) => Effect.all([hold(n), n % 3 === 0 ? Effect.andThen(arrive(paid(50 + n)), complete(n)) : complete(n)], both),
      both
    )
    const received = runs.filter((_, index) => results[index]?.[0] === true)
    const due = yield* claimedAt(200)
    assert.deepStrictEqual([...due, ...ids(...received)].sort(), ids(...runs))
    for (const [, completion] of results) assert.strictEqual(completion?.isNew, true)
  }),

  check("a completion counts before the end of its run, or not at all", function* () {
    const runs = Array.from({ length: 30 }, (_, index) => index + 1)
    yield* Effect.forEach(runs, (n) => begin(n))
    for (const n of runs.slice(0, 15)) {
      yield* commit(advanced(n, { waits: [awaitToken(1, 0)], suspension: suspension(9000) }))
    }
    const results = yield* Effect.forEach(
      runs,
      (n) =>
        Effect.all([complete(n), n <= 15 ? cancelRun(n) : commit(settledWith(active(n).run, deliveryId(n)))], both),
      both
    )
    for (const [index, [completion]] of results.entries()) {
      const state = (yield* get(index + 1))?.state
      assert.strictEqual(state, completion?.isNew === true ? "completed" : "pending")
      assert.deepStrictEqual((yield* history(index + 1)).waits, [])
    }
    assert.deepStrictEqual(yield* claimedAt(9000), [])
  })
]

const both = { concurrency: "unbounded" } as const

export const tokenChecks: ReadonlyArray<Check<WorkflowStores>> = [...records, ...waking, ...races]
