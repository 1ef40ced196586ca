/** Contract of `UsageStore` together with the journal of the same database. Adapters run this suite. */
import { assert } from "@effect/vitest"
import {
  type JournalEntry,
  JournalStore,
  JsonText,
  monthOf,
  type RunCount,
  RunStore,
  TenantStore,
  UsageStore,
  utf8Encode
} from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { type Check, check, suite } from "./Check.ts"
import { claimAll, type JournalStores } from "./Claims.ts"
import {
  at,
  bigJson,
  claimedOnInsert,
  delivery,
  ended,
  env,
  envId,
  event,
  hostileText,
  logLine,
  nodeId,
  org,
  orgId,
  run,
  runHolding,
  runId,
  settled,
  waiting
} from "./Samples.ts"

export const usageStoreContract = <E>(adapter: string, layer: Layer.Layer<JournalStores, E>) =>
  suite(`UsageStore contract: ${adapter}`, usageStoreChecks, layer)

const month = monthOf(at(0))

/** The month after that of the samples. */
const nextMonth = monthOf(month.end)

/** Organization 1 with environments 1 and 2, and organization 2 with environment 3. */
const setUp = Effect.gen(function* () {
  const tenants = yield* TenantStore
  for (const n of [1, 2]) yield* tenants.insertOrg(org(n))
  for (const n of [1, 2]) yield* tenants.insertEnv(env(n))
  yield* tenants.insertEnv(env(3, { org_id: orgId(2) }))
  return yield* JournalStore
})

const used = (n = 1, during = month) => UsageStore.use((usage) => usage.runs(orgId(n), during))

const utf8 = (text: string): number => utf8Encode(text).length

const over = (n: number, fields: Parameters<typeof run>[1] = {}): Extract<JournalEntry, { _tag: "Ended" }> => ({
  _tag: "Ended",
  run: ended(run(n, fields)),
  logs: []
})

/** Counted runs like the samples. */
const countOf = (runs: number, fields: Parameters<typeof ended>[1] = {}): RunCount => ({
  ...ended(run(0), fields),
  runs
})

const batch = (seq: number) => ({ node_id: nodeId(1), seq, at: at(0) })

/** Size of the result of a sample, in bytes. */
const resultBytes = utf8("null")

export const usageStoreChecks: ReadonlyArray<Check<JournalStores>> = [
  check("counts deliveries that no run holds, up to a limit", function* () {
    const journal = yield* setUp
    const pending = (limit: number, n = 1) => UsageStore.use((usage) => usage.pendingDeliveries(envId(n), limit))
    assert.strictEqual(yield* pending(10), 0)
    yield* journal.commit([1, 2, 3].map((n) => waiting(n)).concat(claimedOnInsert(4)), null)
    yield* journal.commit([waiting(5, { env_id: envId(2) })], null)
    assert.strictEqual(yield* pending(10), 3)
    assert.strictEqual(yield* pending(2), 2)
    assert.strictEqual(yield* pending(10, 2), 1)
    assert.strictEqual(yield* pending(10, 3), 0)
    yield* claimAll(at(1000), { runIds: [runId(700)] })
    assert.strictEqual((yield* pending(10)) + (yield* pending(10, 2)), 3)
  }),

  check("returns 0 for an organization without runs, and for an unknown one", function* () {
    yield* setUp
    const nothing = { runs_this_period: 0, call_count: 0, call_storage_bytes: 0 }
    assert.deepStrictEqual(yield* used(), nothing)
    assert.deepStrictEqual(yield* used(404), nothing)
  }),

  check("counts runs of all environments of the organization from their start", function* () {
    const journal = yield* setUp
    const started = { _tag: "Started", run: run(3, { env_id: envId(2) }) } as const
    yield* journal.commit([over(1), claimedOnInsert(2), started, over(4, { env_id: envId(3) })], null)
    assert.deepStrictEqual(yield* used(), { runs_this_period: 3, call_count: 3, call_storage_bytes: resultBytes })
    assert.deepStrictEqual(yield* used(2), { runs_this_period: 1, call_count: 1, call_storage_bytes: resultBytes })
  }),

  check("counts each attempt as a run, and pending deliveries as none", function* () {
    const journal = yield* setUp
    yield* journal.commit([waiting(1)], null)
    assert.strictEqual((yield* used()).runs_this_period, 0)
    const { claims } = yield* claimAll(at(10))
    assert.strictEqual((yield* used()).runs_this_period, 1)
    const first = claims[0]?.run ?? run(0)
    const next = { attempt: 2, due_at: at(20), first_run_id: first.run_id }
    yield* journal.commit([settled(1, ended(first, { status: "failed" }), next)], null)
    yield* claimAll(at(20), { runIds: [runId(900)] })
    assert.deepStrictEqual(yield* used(), { runs_this_period: 2, call_count: 2, call_storage_bytes: resultBytes })
  }),

  check("counts results and logs in UTF-8 bytes of their JSON text", function* () {
    const journal = yield* setUp
    const result = JsonText.make(JSON.stringify(hostileText))
    const logs = [logLine(0, hostileText, result), logLine(1, "𝄞 – é")]
    yield* journal.commit([{ _tag: "Ended", run: ended(run(1), { result }), logs }], null)
    const bytes = utf8(result) + utf8(JSON.stringify(logs))
    assert.strictEqual((yield* used()).call_storage_bytes, bytes)
    yield* journal.commit([{ _tag: "Ended", run: ended(run(2), { result: bigJson }), logs: [] }], null)
    assert.strictEqual((yield* used()).call_storage_bytes, bytes + utf8(bigJson))
  }),

  check("counts repeated entries once, and entries without effect not at all", function* () {
    const journal = yield* setUp
    yield* journal.commit([claimedOnInsert(1), settled(1, ended(run(1))), over(2), over(2)], null)
    yield* journal.commit([settled(1, ended(run(1))), over(2), settled(7, ended(run(7)))], null)
    yield* journal.commit([claimedOnInsert(1), over(3)], null)
    assert.deepStrictEqual(yield* used(), { runs_this_period: 3, call_count: 3, call_storage_bytes: 3 * resultBytes })
  }),

  check("counts the bytes of a lost run's error", function* () {
    const journal = yield* setUp
    yield* journal.commit([claimedOnInsert(1, 2)], { node_id: nodeId(2), until: at(1) })
    const [lost] = yield* journal.reap(nodeId(1), at(1000), 100)
    assert.deepStrictEqual(yield* used(), {
      runs_this_period: 1,
      call_count: 1,
      call_storage_bytes: utf8(lost?.result ?? "")
    })
  }),

  check("subtracts the bytes of purged runs, but not their starts in this month", function* () {
    const journal = yield* setUp
    const large = { ...over(1), run: ended(run(1), { result: bigJson }), logs: [logLine(0)] }
    yield* journal.commit([large, over(2), over(3)], null)
    yield* journal.purge(envId(1), runId(3), 100)
    assert.deepStrictEqual(yield* used(), { runs_this_period: 3, call_count: 1, call_storage_bytes: resultBytes })
  }),

  check("counts a run for the month of its start, whenever it ends", function* () {
    const journal = yield* setUp
    const late = run(1, { start_time: at(month.end - at(0) - 1) })
    const early = run(2, { start_time: nextMonth.start })
    yield* journal.commit([{ _tag: "Started", run: late }, { _tag: "Started", run: early }, over(3)], null)
    assert.strictEqual((yield* used()).runs_this_period, 2)
    assert.strictEqual((yield* used(1, nextMonth)).runs_this_period, 1)
    const ends = [early, late].map((running) => ({ _tag: "Ended", run: ended(running), logs: [] }) as const)
    yield* journal.commit(ends, null)
    assert.strictEqual((yield* used(1, nextMonth)).runs_this_period, 1)
    yield* journal.commit([over(4, { start_time: nextMonth.start })], null)
    assert.deepStrictEqual(yield* used(1, nextMonth), {
      runs_this_period: 2,
      call_count: 4,
      call_storage_bytes: 4 * resultBytes
    })
  }),

  check("counts runs of a batch for their month without storing them", function* () {
    const journal = yield* setUp
    yield* journal.commit([over(1)], null)
    const counts = [countOf(3), countOf(2, { status: "failed" }), countOf(4, { env_id: envId(2) })]
    yield* journal.count({ ...batch(1), counts: [...counts, countOf(5, { env_id: envId(3) })] })
    assert.deepStrictEqual(yield* used(), { runs_this_period: 10, call_count: 1, call_storage_bytes: resultBytes })
    assert.deepStrictEqual(yield* used(2), { runs_this_period: 5, call_count: 0, call_storage_bytes: 0 })
    const runs = yield* RunStore
    assert.strictEqual((yield* runs.list(envId(1), { limit: 10, offset: 0 }, {})).total, 1)
    assert.deepInclude(yield* runs.stats(envId(1)), { total_runs: 1, failed: 0 })
    yield* journal.count({ ...batch(2), counts: [countOf(6, { start_time: nextMonth.start })] })
    assert.strictEqual((yield* used(1, nextMonth)).runs_this_period, 6)
  }),

  check("counts a repeated batch of a node once, and batches of other nodes separately", function* () {
    const journal = yield* setUp
    const first = { ...batch(1), counts: [countOf(3)] }
    const second = { ...batch(2), counts: [countOf(10)] }
    for (const sent of [first, first, second, first, second]) yield* journal.count(sent)
    assert.strictEqual((yield* used()).runs_this_period, 13)
    yield* journal.count({ ...first, node_id: nodeId(2) })
    assert.strictEqual((yield* used()).runs_this_period, 16)
  }),

  check("counts concurrent copies of a batch once", function* () {
    const journal = yield* setUp
    const copies = Array.from({ length: 20 }, () => journal.count({ ...batch(1), counts: [countOf(3)] }))
    yield* Effect.all(copies, { concurrency: "unbounded" })
    assert.strictEqual((yield* used()).runs_this_period, 3)
  }),

  check("counts a batch while other runs of the same projects end", function* () {
    const journal = yield* setUp
    yield* Effect.all(
      Array.from({ length: 10 }, (_, n) => [
        journal.count({ ...batch(1), node_id: nodeId(n), counts: [countOf(2), countOf(3, { status: "failed" })] }),
        journal.commit([over(n)], null)
      ]).flat(),
      { concurrency: "unbounded" }
    )
    assert.deepStrictEqual(yield* used(), {
      runs_this_period: 60,
      call_count: 10,
      call_storage_bytes: 10 * resultBytes
    })
  }),

  check("sums a month over all projects, names, types and outcomes", function* () {
    const journal = yield* setUp
    const held = delivery(2)
    const begun = { start_time: nextMonth.start }
    yield* journal.commit(
      [
        over(1),
        { _tag: "Appended", event: event(2), deliveries: [{ delivery: held, run: runHolding(2, held, begun) }] },
        { ...over(3), run: ended(run(3, begun), { status: "failed" }) },
        over(4, { ...begun, project_name: "renamed" })
      ],
      null
    )
    yield* journal.commit([settled(2, ended(runHolding(2, held, begun), { status: "cancelled" }))], null)
    assert.deepStrictEqual(yield* used(1, nextMonth), {
      runs_this_period: 3,
      call_count: 4,
      call_storage_bytes: 4 * resultBytes
    })
  })
]
