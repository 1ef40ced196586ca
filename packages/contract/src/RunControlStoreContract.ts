/** Contract of `RunControlStore` together with the journal of the same database. Adapters run this suite. */
import { assert } from "@effect/vitest"
import {
  EventStore,
  JournalStore,
  JsonText,
  type LogEntry,
  monthOf,
  noRetry,
  type ProjectStore,
  RunControlStore,
  type RunLog,
  type RunSelection,
  RunStore,
  TenantStore,
  UsageStore,
  utf8Encode
} from "@weft/core/adapter"
import { Effect, type Layer, Schema } from "effect"
import { type Check, check, suite } from "./Check.ts"
import { claimAll } from "./Claims.ts"
import { deliveryDiscardChecks } from "./DeliveryDiscardChecks.ts"
import { projectRemovalChecks } from "./ProjectRemovalChecks.ts"
import {
  at,
  bigJson,
  claimedOnInsert,
  delivery,
  ended,
  env,
  envId,
  event,
  eventId,
  everything,
  hostileText,
  logLine,
  nodeId,
  org,
  orgId,
  run,
  runHolding,
  runId,
  settled,
  streamId,
  waiting
} from "./Samples.ts"

type Stores = RunControlStore | ProjectStore | JournalStore | RunStore | EventStore | TenantStore | UsageStore

export const runControlStoreContract = <E>(adapter: string, layer: Layer.Layer<Stores, E>) =>
  suite(`RunControlStore contract: ${adapter}`, runControlStoreChecks, layer)

const cancel = (which: RunSelection, limit = 100, env = 1) =>
  RunControlStore.use((store) => store.cancel(envId(env), which, at(1000), limit))

const toIds = (cancelled: Effect.Success<ReturnType<typeof cancel>>) => cancelled.map(({ run }) => run.run_id).sort()

const stored = (n: number, env = 1) => RunStore.use((store) => store.get(envId(env), runId(n)))

const readLogs = (n: number) => RunStore.use((store) => store.logs(envId(1), runId(n), everything))

const logAll = (...logs: ReadonlyArray<RunLog>) => RunControlStore.use((store) => store.log(logs))

const log = (n: number, entries: ReadonlyArray<LogEntry>, env = 1) =>
  Effect.map(logAll({ env_id: envId(env), run_id: runId(n), entries }), ([status]) => status)

const commit = (...entries: Parameters<JournalStore["Service"]["commit"]>[0]) =>
  JournalStore.use((journal) => journal.commit(entries, null))

const started = (n: number, fields: Parameters<typeof run>[1] = {}) =>
  ({ _tag: "Started", run: run(n, fields) }) as const

const over = (n: number, fields: Parameters<typeof ended>[1] = {}, logs: ReadonlyArray<LogEntry> = []) =>
  ({ _tag: "Ended", run: ended(run(n), fields), logs }) as const

/** An event with a delivery in a group, claimed on insert by run `n`. */
const grouped = (n: number, key: string) => {
  const published = event(n)
  const held = delivery(n, published, { group: { key, limit: 1 } })
  return {
    _tag: "Appended",
    event: published,
    deliveries: [{ delivery: held, run: runHolding(n, held) }]
  } as const
}

const CancelledResult = Schema.fromJsonString(
  Schema.Struct({ error: Schema.Struct({ name: Schema.String, message: Schema.NonEmptyString, stack: Schema.String }) })
)

/** Returns the UTF-8 bytes of results and logs that the organization of environment 1 is charged for. */
const bytes = UsageStore.use((usage) =>
  Effect.map(usage.runs(orgId(1), monthOf(at(0))), (used) => used.call_storage_bytes)
)

const tenants = Effect.gen(function* () {
  const store = yield* TenantStore
  yield* store.insertOrg(org(1))
  yield* store.insertEnv(env(1))
})

const length = (text: string): number => utf8Encode(text).length

const cancelling: ReadonlyArray<Check<Stores>> = [
  check("cancels a running run, with and without a delivery", function* () {
    yield* commit(started(1), claimedOnInsert(2), started(3))
    for (const n of [1, 2]) {
      const before = yield* stored(n)
      const [cancelled, ...others] = yield* cancel({ runId: runId(n) })
      assert.deepStrictEqual(others, [])
      assert.isNull(cancelled?.group)
      const after = yield* stored(n)
      assert.deepStrictEqual(cancelled?.run, after)
      assert.deepStrictEqual(after, { ...before, status: "cancelled", stop_time: at(1000), result: after.result })
      const { error } = yield* Schema.decodeUnknownEffect(CancelledResult)(after.result)
      assert.deepStrictEqual([error.name, error.stack], ["Cancelled", ""])
    }
    assert.strictEqual((yield* stored(3)).status, "running")
    const { running, cancelled } = yield* RunStore.use((store) => store.stats(envId(1)))
    assert.deepStrictEqual([running, cancelled], [1, 2])
  }),

  check("changes neither an ended nor a cancelled run", function* () {
    yield* commit(over(1), over(2, { status: "failed" }), started(3))
    yield* cancel({ runId: runId(3) })
    const before = [yield* stored(1), yield* stored(2), yield* stored(3)]
    for (const n of [1, 2, 3, 404]) assert.deepStrictEqual(yield* cancel({ runId: runId(n) }), [])
    assert.deepStrictEqual([yield* stored(1), yield* stored(2), yield* stored(3)], before)
    assert.strictEqual((yield* RunStore.use((store) => store.stats(envId(1)))).total_runs, 3)
  }),

  check("rejects the end of a cancelled run, whose delivery is never claimed again", function* () {
    yield* commit(claimedOnInsert(1), started(2), waiting(3))
    const { claims } = yield* claimAll(at(10))
    yield* cancel({})
    const before = [yield* stored(1), yield* stored(2)]
    const again = { attempt: 2, due_at: at(20), first_run_id: runId(1) }
    const counted = yield* commit(
      settled(1, ended(runHolding(1, delivery(1)))),
      settled(1, ended(runHolding(1, delivery(1)), { status: "failed" }), again),
      over(2),
      ...claims.map(({ delivery: held, run: holder }) => ({
        _tag: "Settled" as const,
        run: ended(holder),
        logs: [logLine(0)],
        deliveryId: held.delivery_id,
        next: again
      }))
    )
    assert.deepStrictEqual(counted, [false, false, false, false])
    assert.deepStrictEqual([yield* stored(1), yield* stored(2)], before)
    const journal = yield* JournalStore
    assert.deepStrictEqual(yield* journal.reap(nodeId(9), at(1_000_000), 100), [])
    assert.deepStrictEqual((yield* claimAll(at(1_000_000))).claims, [])
    assert.strictEqual(yield* RunStore.use((store) => store.waiting(10)), 0)
  }),

  check("returns the group of the delivery, and frees its slot", function* () {
    yield* commit(grouped(1, "a"), waiting(2, {}, { group: { key: "a", limit: 1 } }))
    assert.deepStrictEqual((yield* claimAll(at(10))).claims, [])
    const [cancelled] = yield* cancel({ runId: runId(1) })
    assert.strictEqual(cancelled?.group, "a")
    const journal = yield* JournalStore
    assert.strictEqual(yield* journal.unpark([{ env_id: envId(1), key: "a" }], at(20)), 1)
    assert.strictEqual((yield* claimAll(at(20))).claims.length, 1)
  }),

  check("ignores runs of other environments", function* () {
    yield* commit(started(1, { env_id: envId(2) }), started(2))
    assert.deepStrictEqual(yield* cancel({ runId: runId(1) }), [])
    assert.deepStrictEqual(toIds(yield* cancel({})), [runId(2)])
    assert.strictEqual((yield* stored(1, 2)).status, "running")
  }),

  check("cancels a run once under concurrent cancels", function* () {
    yield* commit(claimedOnInsert(1))
    const all = yield* Effect.replicateEffect(cancel({ runId: runId(1) }), 20, { concurrency: 20 })
    assert.strictEqual(all.flat().length, 1)
    assert.strictEqual((yield* RunStore.use((store) => store.stats(envId(1)))).cancelled, 1)
  }),

  check("applies exactly one of a concurrent cancel and end", function* () {
    for (let n = 1; n <= 20; n++) {
      yield* commit(claimedOnInsert(n))
      const [cancelled, [counted]] = yield* Effect.all(
        [cancel({ runId: runId(n) }), commit(settled(n, ended(runHolding(n, delivery(n)))))],
        { concurrency: 2 }
      )
      assert.strictEqual(cancelled.length === 1, counted === false)
      assert.strictEqual((yield* stored(n)).status, counted === true ? "succeeded" : "cancelled")
    }
    const { succeeded, cancelled } = yield* RunStore.use((store) => store.stats(envId(1)))
    assert.strictEqual(succeeded + cancelled, 20)
  })
]

const selecting: ReadonlyArray<Check<Stores>> = [
  check("selects by type, start, event and function, and combines these fields", function* () {
    const other = { ns: "billing", var: "pay", project_name: "shop" }
    const all = [
      started(1, { run_type: "call" }),
      started(2, { run_type: "event", event_id: eventId(7) }),
      started(3, { run_type: "event", event_id: eventId(8), ...other }),
      started(4, { run_type: "event", event_id: eventId(7), ...other, project_name: hostileText })
    ]
    const cases: ReadonlyArray<readonly [RunSelection, ReadonlyArray<number>]> = [
      [{ type: "call" }, [1]],
      [{ type: "schedule" }, []],
      [{ since: at(3) }, [3, 4]],
      [{ until: at(2) }, [1, 2]],
      [{ since: at(2), until: at(3) }, [2, 3]],
      [{ eventId: eventId(7) }, [2, 4]],
      [{ functions: ["billing/pay"] }, [3, 4]],
      [{ functions: ["shop:billing/pay", "main/nothing"] }, [3]],
      [{ functions: [`${hostileText}:billing/pay`, "main/onOrder"] }, [1, 2, 4]],
      [{ functions: [] }, []],
      [{ eventId: eventId(7), functions: ["billing/pay"] }, [4]],
      [{ runId: runId(2), type: "call" }, []],
      [{}, [1, 2, 3, 4]]
    ]
    for (const [n, [which, expected]] of cases.entries()) {
      // Each case stores the runs again with other ids.
      const shift = 100 * n
      yield* commit(
        ...all.map(({ run: base }, index) => started(shift + index + 1, { ...base, run_id: runId(shift + index + 1) }))
      )
      const found = toIds(yield* cancel(which.runId === undefined ? which : { ...which, runId: runId(shift + 2) }))
      assert.deepStrictEqual(
        found,
        expected.map((index) => runId(shift + index)),
        JSON.stringify(which)
      )
      yield* cancel({})
    }
  }),

  check("cancels at most limit runs, the lowest ids first, and all in the end", function* () {
    yield* commit(...[1, 2, 3, 4, 5].map((n) => started(n)))
    assert.deepStrictEqual(toIds(yield* cancel({}, 2)), [runId(1), runId(2)])
    assert.deepStrictEqual(toIds(yield* cancel({}, 2)), [runId(3), runId(4)])
    assert.deepStrictEqual(toIds(yield* cancel({}, 2)), [runId(5)])
    assert.deepStrictEqual(yield* cancel({}, 2), [])
  })
]

const logging: ReadonlyArray<Check<Stores>> = [
  check("returns the last written log of a running run", function* () {
    yield* commit(started(1), started(2))
    assert.strictEqual(yield* log(1, [logLine(0)]), "running")
    assert.deepStrictEqual((yield* readLogs(1)).items, [logLine(0)])
    const lines = [logLine(0, "***"), logLine(1, hostileText, bigJson), logLine(2)]
    assert.strictEqual(yield* log(1, lines), "running")
    assert.deepStrictEqual(yield* readLogs(1), { items: lines, total: 3 })
    assert.strictEqual((yield* readLogs(2)).total, 0)
    assert.deepStrictEqual(yield* stored(1), run(1))
  }),

  check("writes logs of many runs at once, each separately", function* () {
    yield* commit(started(1), over(2), started(3), started(4, { env_id: envId(2) }))
    yield* cancel({ runId: runId(3) })
    const logs = [1, 2, 3, 4, 404].map((n) => ({ env_id: envId(1), run_id: runId(n), entries: [logLine(n)] }))
    assert.deepStrictEqual(yield* logAll(...logs), ["running", "succeeded", "cancelled", null, null])
    assert.deepStrictEqual([(yield* readLogs(1)).items, (yield* readLogs(3)).items], [[logLine(1)], [logLine(3)]])
    assert.deepStrictEqual(yield* logAll(), [])
  }),

  check("does not change the log of an ended run", function* () {
    yield* commit(started(1), started(2), started(3))
    for (const n of [1, 2, 3]) yield* log(n, [logLine(0, "early")])
    yield* commit(over(1, {}, [logLine(0), logLine(1)]), over(2, { status: "failed" }))
    assert.strictEqual(yield* log(1, [logLine(0, "late")]), "succeeded")
    assert.strictEqual(yield* log(2, [logLine(0, "late")]), "failed")
    assert.deepStrictEqual((yield* readLogs(1)).items, [logLine(0), logLine(1)])
    assert.deepStrictEqual((yield* readLogs(2)).items, [])
  }),

  check("keeps the log of a cancelled or lost run, and accepts additions to a cancelled one", function* () {
    yield* commit(started(1), claimedOnInsert(2, 2), claimedOnInsert(3, 2))
    for (const n of [1, 2, 3]) yield* log(n, [logLine(0)])
    yield* cancel({ runId: runId(1) })
    yield* cancel({ runId: runId(2) })
    yield* JournalStore.use((journal) => journal.reap(nodeId(9), at(1_000_000), 100))
    for (const n of [1, 2, 3]) assert.deepStrictEqual((yield* readLogs(n)).items, [logLine(0)])
    assert.strictEqual((yield* stored(3)).status, "failed")
    assert.strictEqual(yield* log(1, [logLine(0), logLine(1)]), "cancelled")
    assert.strictEqual((yield* readLogs(1)).total, 2)
    assert.strictEqual(yield* log(3, []), "failed")
    assert.strictEqual((yield* readLogs(3)).total, 1)
  }),

  check("rejects logs of runs of another environment, and of unknown runs", function* () {
    yield* commit(started(1))
    assert.isNull(yield* log(1, [logLine(0)], 2))
    assert.isNull(yield* log(404, [logLine(0)]))
    assert.strictEqual((yield* readLogs(1)).total, 0)
  }),

  check("charges for the bytes that are finally stored", function* () {
    yield* tenants
    yield* commit(started(1), claimedOnInsert(2, 2), started(3))
    const lines = [logLine(0, hostileText, JsonText.make('"é"'))]
    for (const n of [1, 2, 3]) yield* log(n, [logLine(0)])
    yield* cancel({ runId: runId(1) })
    yield* log(1, lines)
    yield* log(1, [...lines, logLine(1)])
    yield* log(1, lines)
    yield* JournalStore.use((journal) => journal.reap(nodeId(1), at(1_000_000), 100))
    const results = [(yield* stored(1)).result, (yield* stored(2)).result].map((result) => length(result ?? ""))
    const expected = [...results, length(JSON.stringify(lines)), length(JSON.stringify([logLine(0)]))]
    yield* commit(over(3))
    const all = expected.reduce((sum, one) => sum + one, length("null"))
    assert.strictEqual(yield* bytes, all)
    while ((yield* JournalStore.use((journal) => journal.purge(envId(1), runId(999), 100))) > 0);
    assert.strictEqual(yield* bytes, 0)
  })
]

const querying: ReadonlyArray<Check<Stores>> = [
  check("ended returns which of the given runs have ended", function* () {
    const store = yield* RunControlStore
    yield* commit(started(1), over(2), started(3), claimedOnInsert(4), started(5, { env_id: envId(2) }))
    yield* cancel({ runId: runId(3) })
    yield* cancel({ runId: runId(5) }, 1, 2)
    const refs = [1, 2, 3, 4, 404].map((n) => ({ env_id: envId(1), run_id: runId(n) }))
    const others = [2, 5].map((n) => ({ env_id: envId(2), run_id: runId(n) }))
    assert.sameMembers([...(yield* store.ended([...refs, ...others]))], [runId(2), runId(3), runId(5)])
    assert.deepStrictEqual(yield* store.ended([]), [])
  }),

  check("stores the event of a delivery with it", function* () {
    const store = yield* RunControlStore
    const made = event(7)
    const first = delivery(8, made, { run_type: "run", due_at: at(50), caused_by: runId(1) })
    yield* store.redeliver(first, made)
    const { claims } = yield* claimAll(at(50))
    assert.deepStrictEqual(
      claims.map((claim) => [claim.delivery, claim.event]),
      [[first, made]]
    )
    assert.deepStrictEqual(yield* EventStore.use((events) => events.list(envId(1), everything)), {
      items: [made],
      total: 1
    })
  }),

  check("redelivers a stored event", function* () {
    const store = yield* RunControlStore
    const published = event(1)
    yield* commit(claimedOnInsert(1))
    const again = delivery(2, published, {
      run_type: "run",
      due_at: at(50),
      caused_by: runId(1),
      retry: { ...noRetry, attempts: 3 },
      group: { key: "g", limit: 2 }
    })
    yield* store.redeliver(again)
    assert.deepStrictEqual((yield* claimAll(at(49))).claims, [])
    const { claims } = yield* claimAll(at(50))
    assert.deepStrictEqual(
      claims.map((claim) => [claim.delivery, claim.event]),
      [[again, published]]
    )
    const [claim] = claims
    assert.include(claim?.run, { run_type: "run", origin_run_id: runId(1), stream_id: streamId(1), attempt: 1 })
    assert.strictEqual((yield* EventStore.use((events) => events.list(envId(1), everything))).total, 1)
  })
]

export const runControlStoreChecks: ReadonlyArray<Check<Stores>> = [
  ...cancelling,
  ...selecting,
  ...logging,
  ...querying,
  ...deliveryDiscardChecks,
  ...projectRemovalChecks
]
