/** Contract of `JournalStore.claim`. */
import { assert } from "@effect/vitest"
import { type Claim, JournalStore, JsonText, RunStore } from "@weft/core/adapter"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import { claimAll, claimRequest, type JournalStores } from "./Claims.ts"
import {
  at,
  delivery,
  ended,
  envId,
  event,
  everything,
  hostileText,
  nodeId,
  runHolding,
  runId,
  runIds,
  settled,
  waiting
} from "./Samples.ts"

/** Stores `count` pending deliveries of environment `env`, numbered from `env * 1000`. The first is the longest due. */
const backlog = (env: number, count: number) =>
  Effect.flatMap(JournalStore, (journal) =>
    journal.commit(
      Array.from({ length: count }, (_, index) =>
        waiting(env * 1000 + index, { env_id: envId(env), created_at: at(index) })
      ),
      null
    )
  )

const countByEnv = (claims: ReadonlyArray<Claim>): ReadonlyMap<string, number> =>
  new Map([...Map.groupBy(claims, (claim) => claim.delivery.env_id)].map(([env, taken]) => [env, taken.length]))

const taking: ReadonlyArray<Check<JournalStores>> = [
  check("claim returns delivery, event and run as stored, and the run is running", function* () {
    const journal = yield* JournalStore
    const published = event(1, { event_type: hostileText, event_data: JsonText.make(JSON.stringify(hostileText)) })
    const retry = { attempts: 5, delay_ms: 0.5, backoff: 1.75, max_delay_ms: 60_000, jitter: false }
    const intent = delivery(1, published, {
      retry,
      timeout_ms: 1234,
      attempt: 3,
      var: hostileText,
      caused_by: runId(70),
      depth: 7,
      first_run_id: runId(71)
    })
    yield* journal.commit([{ _tag: "Appended", event: published, deliveries: [{ delivery: intent, run: null }] }], null)
    const { claims } = yield* claimAll(at(100), { lease: { node_id: nodeId(4), until: at(200) } })
    const run = runHolding(10_000, intent, {
      var: hostileText,
      start_time: at(100),
      node_id: nodeId(4),
      attempt: 3,
      origin_run_id: runId(71)
    })
    assert.deepStrictEqual(claims, [{ delivery: intent, event: published, run }])
    assert.deepStrictEqual(yield* (yield* RunStore).get(envId(1), run.run_id), run)
  }),

  check("sets the origin of a first attempt to the run that caused it", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([waiting(1, {}, { caused_by: runId(70) }), waiting(2)], null)
    const { claims } = yield* claimAll(at(100))
    const origins = claims.map((claim) => [claim.delivery.caused_by, claim.run.origin_run_id])
    assert.sameDeepMembers(origins, [
      [runId(70), runId(70)],
      [null, null]
    ])
  }),

  check("claims nothing from an empty store", function* () {
    assert.deepStrictEqual(yield* claimAll(at(0)), { claims: [], parked: 0, unparked: 0, next_due_at: null })
  }),

  check("reports no further deliveries if the environments exactly fill a claim", function* () {
    yield* JournalStore.use((journal) => journal.commit([waiting(1)], null))
    const one = yield* claimAll(at(100), { runIds: runIds(20_000, 1) })
    assert.deepStrictEqual([one.claims.length, one.next_due_at], [1, null])
    yield* backlog(2, 1)
    yield* backlog(3, 1)
    const both = yield* claimAll(at(100), { runIds: runIds(30_000, 1) })
    assert.deepStrictEqual([both.claims.length, (both.next_due_at ?? at(101)) <= at(100)], [1, true])
  }),

  check("keeps the trace context of a delivery over attempts and after the death of its node", function* () {
    const journal = yield* JournalStore
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    yield* journal.commit([waiting(1, {}, { traceparent }), waiting(2)], null)
    const traces = (claims: ReadonlyArray<Claim>) => claims.map(({ delivery: { traceparent: trace } }) => trace ?? null)
    const { claims } = yield* claimAll(at(100))
    assert.sameMembers(traces(claims), [traceparent, null])
    const endings = claims.map(({ delivery: held, run: over }) => ({
      _tag: "Settled" as const,
      run: ended(over, { status: "failed" }),
      logs: [],
      deliveryId: held.delivery_id,
      next: { attempt: 2, due_at: at(200), first_run_id: over.run_id }
    }))
    assert.deepStrictEqual(yield* journal.commit(endings, null), [true, true])
    const again = yield* claimAll(at(200), { runIds: runIds(20_000, 10) })
    assert.sameMembers(traces(again.claims), [traceparent, null])
    assert.strictEqual((yield* journal.reap(nodeId(2), at(1000), 10)).length, 2)
    const reaped = yield* claimAll(at(1000), { runIds: runIds(30_000, 10) })
    assert.sameMembers(traces(reaped.claims), [traceparent, null])
    assert.strictEqual(reaped.claims.filter((claim) => "traceparent" in claim.delivery).length, 1)
  }),

  check("does not claim a claimed delivery again", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([waiting(1), waiting(2)], null)
    assert.strictEqual((yield* claimAll(at(100))).claims.length, 2)
    assert.deepStrictEqual(yield* claimAll(at(100), { runIds: runIds(20_000, 10) }), {
      claims: [],
      parked: 0,
      unparked: 0,
      next_due_at: null
    })
  }),

  check("settles a delivery only for the run that claimed it", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([waiting(1)], null)
    const [claim] = (yield* claimAll(at(100))).claims
    assert.isDefined(claim)
    const other = settled(1, ended(runHolding(5, claim.delivery)))
    assert.deepStrictEqual(yield* journal.commit([other, settled(1, ended(claim.run))], null), [false, true])
  }),

  check("does not claim a delivery before it is due", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([waiting(1, { created_at: at(60) }), waiting(2, { created_at: at(90) })], null)
    assert.deepStrictEqual(yield* claimAll(at(59)), { claims: [], parked: 0, unparked: 0, next_due_at: at(60) })
    const first = yield* claimAll(at(60))
    assert.strictEqual(first.claims.length, 1)
    assert.strictEqual(first.next_due_at, at(90))
    const second = yield* claimAll(at(1000), { runIds: runIds(20_000, 5) })
    assert.deepStrictEqual([second.claims.length, second.next_due_at], [1, null])
  }),

  check("claims at most as many deliveries as there are run ids, with each run id once", function* () {
    yield* backlog(1, 20)
    const ids = runIds(500, 7)
    const { claims, next_due_at } = yield* claimAll(at(1000), { runIds: ids })
    assert.strictEqual(claims.length, 7)
    assert.sameMembers(
      claims.map((claim) => claim.run.run_id),
      [...ids]
    )
    assert.isTrue(next_due_at !== null && next_due_at <= at(1000))
    assert.strictEqual((yield* (yield* RunStore).list(envId(1), everything, {})).total, 7)
  }),

  check("claims the longest due delivery of an environment first", function* () {
    const journal = yield* JournalStore
    const dues = [50, 10, 40, 20, 30]
    yield* journal.commit(
      dues.map((due, index) => waiting(index + 1, { created_at: at(due) })),
      null
    )
    const { claims, next_due_at } = yield* claimAll(at(1000), { runIds: runIds(500, 3) })
    assert.sameMembers(
      claims.map((claim) => claim.delivery.due_at),
      [at(10), at(20), at(30)]
    )
    assert.isTrue(next_due_at !== null && next_due_at <= at(1000))
  }),

  check("concurrent claims take disjoint deliveries", function* () {
    const journal = yield* JournalStore
    yield* backlog(1, 60)
    const requests = Array.from({ length: 20 }, (_, index) =>
      claimRequest(at(1000), { runIds: runIds(100 * (index + 1), 5) })
    )
    const results = yield* Effect.forEach(requests, (request) => journal.claim(request), { concurrency: "unbounded" })
    const claims = results.flatMap((result) => result.claims)
    assert.strictEqual(new Set(claims.map((claim) => claim.delivery.delivery_id)).size, claims.length)
    const left = yield* claimAll(at(1000))
    assert.strictEqual(claims.length + left.claims.length, 60)
    assert.strictEqual((yield* (yield* RunStore).stats(envId(1))).running, 60)
  })
]

const sharing: ReadonlyArray<Check<JournalStores>> = [
  check("gives no environment more than perEnv", function* () {
    yield* backlog(1, 30)
    yield* backlog(2, 30)
    const { claims, next_due_at } = yield* claimAll(at(1000), { perEnv: 4 })
    assert.deepStrictEqual([countByEnv(claims).get(envId(1)), countByEnv(claims).get(envId(2))], [4, 4])
    assert.isTrue(next_due_at !== null && next_due_at <= at(1000))
  }),

  check("skips excluded environments, also in next_due_at", function* () {
    yield* backlog(1, 3)
    yield* backlog(2, 3)
    const only2 = yield* claimAll(at(1000), { exclude: [envId(1), envId(77)] })
    assert.deepStrictEqual([...countByEnv(only2.claims)], [[envId(2), 3]])
    assert.strictEqual(only2.next_due_at, null)
    const rest = yield* claimAll(at(1000), { runIds: runIds(20_000, 10) })
    assert.deepStrictEqual([...countByEnv(rest.claims)], [[envId(1), 3]])
  }),

  check("takes large events up to the byte budget of a claim, and the others with the next claim", function* () {
    const large = JsonText.make(JSON.stringify("x".repeat(3 * 2 ** 20)))
    const [journal, entries] = [yield* JournalStore, [1, 2, 3, 4, 5]]
    yield* journal.commit(
      entries.map((n) => waiting(n, { created_at: at(n), ...(n === 2 ? {} : { event_data: large }) })),
      null
    )
    const numbers = ({ claims }: { readonly claims: ReadonlyArray<Claim> }) =>
      claims.map(({ delivery, event }) => [delivery.due_at, event.event_data.length])
    const first = yield* claimAll(at(1000))
    assert.deepStrictEqual(numbers(first), [
      [at(1), large.length],
      [at(2), 7],
      [at(3), large.length]
    ])
    assert.isTrue(first.next_due_at !== null && first.next_due_at <= at(1000))
    const second = yield* claimAll(at(1000), { runIds: runIds(20_000, 10) })
    assert.deepStrictEqual(numbers(second), [
      [at(4), large.length],
      [at(5), large.length]
    ])
    assert.isNull(second.next_due_at)
  }),

  check("serves small environments despite a large backlog of another", function* () {
    yield* backlog(1, 500)
    for (let env = 2; env <= 10; env++) yield* backlog(env, 5)
    const { claims } = yield* claimAll(at(1000), { runIds: runIds(10_000, 50) })
    const counts = countByEnv(claims)
    assert.strictEqual(counts.size, 10)
    for (let env = 2; env <= 10; env++) assert.strictEqual(counts.get(envId(env)), 5)
  }),

  check("gives each environment its share, the longest due first", function* () {
    for (let env = 1; env <= 10; env++) yield* backlog(env, 20)
    const { claims } = yield* claimAll(at(1000), { runIds: runIds(10_000, 50) })
    for (let env = 1; env <= 10; env++) {
      const dues = claims.filter((claim) => claim.delivery.env_id === envId(env)).map((claim) => claim.delivery.due_at)
      assert.sameMembers(dues, [0, 1, 2, 3, 4].map(at))
    }
  }),

  check("serves more environments than a claim can hold in turn", function* () {
    for (let env = 1; env <= 30; env++) yield* backlog(env, 4)
    const served: Array<string> = []
    for (let round = 0; round < 3; round++) {
      const { claims } = yield* claimAll(at(1000), { runIds: runIds(1000 * (round + 1), 10) })
      assert.strictEqual(claims.length, 10)
      served.push(...claims.map((claim) => claim.delivery.env_id))
    }
    assert.strictEqual(new Set(served).size, 30)
  }),

  check("gives the unused share of an environment to later claims", function* () {
    yield* backlog(1, 40)
    yield* backlog(2, 1)
    let rounds = 0
    let claimed = 0
    while (claimed < 41 && rounds < 5) {
      const { claims } = yield* claimAll(at(1000), { runIds: runIds(1000 * (rounds + 1), 20) })
      claimed += claims.length
      rounds++
    }
    assert.strictEqual(claimed, 41)
  }),

  check("gives no share to an environment without due deliveries", function* () {
    const journal = yield* JournalStore
    yield* backlog(1, 10)
    yield* journal.commit([waiting(9000, { env_id: envId(2), created_at: at(5000) })], null)
    const { claims, next_due_at } = yield* claimAll(at(1000), { runIds: runIds(10_000, 10) })
    assert.strictEqual(claims.length, 10)
    assert.strictEqual(next_due_at, at(5000))
  })
]

export const claimChecks: ReadonlyArray<Check<JournalStores>> = [...taking, ...sharing]
