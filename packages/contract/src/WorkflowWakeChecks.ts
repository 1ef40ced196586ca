/** Contract of `WorkflowStore.wake`, which ends the wait of a sleeping run early. */
import { assert } from "@effect/vitest"
import { formatWaiting, type JournalEntry, JournalStore, type WaitRecord, WorkflowStore } from "@weft/core/adapter"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import { claimAll } from "./Claims.ts"
import { at, deliveryId, envId, nodeId, runId, runIds, waiting } from "./Samples.ts"
import {
  active,
  advanced,
  arrive,
  awaitPaid,
  cancelRun,
  commit,
  history,
  paid,
  settledWith,
  sleep,
  started,
  step,
  storedRun,
  type WorkflowStores
} from "./WorkflowSamples.ts"

const wake = (n: number, now: number, env = 1) =>
  WorkflowStore.use((store) => store.wake({ env_id: envId(env), run_id: runId(n) }, at(now)))

const isWoken = (n: number, now = 200) => Effect.map(wake(n, now), (woken) => woken.isWoken)

const toWaiting = ({ kind, name, since, until }: WaitRecord) =>
  formatWaiting({ for: kind === "sleep" ? "timer" : kind === "step" ? "retry" : "event", name, since, until })

/** Run `n`, suspended until the end of the first wait. */
const asleep = (n: number, first: WaitRecord, others: ReadonlyArray<WaitRecord> = []): JournalEntry =>
  advanced(n, {
    waits: [first, ...others],
    suspension: { due_at: first.until ?? at(90_000), waiting: toWaiting(first), cleanup_until: null, logs: [] }
  })

/** The pause before attempt 3 at a step. */
const pause = (seq: number, until: number): WaitRecord => ({ ...sleep(seq, until), kind: "step", attempts: 2 })

const claimedAt = (now: number, first = 800) =>
  Effect.map(claimAll(at(now), { runIds: runIds(first, 100) }), ({ claims }) =>
    claims.map(({ run }) => run.run_id).sort()
  )

export const wakeChecks: ReadonlyArray<Check<WorkflowStores>> = [
  check("ends the sleep and the retry pause that a run waits for, and makes it due", function* () {
    yield* commit(started(1), started(2), started(3))
    yield* commit(asleep(1, sleep(0, 9000), [sleep(1, 9500)]), asleep(2, pause(4, 8000)), asleep(3, sleep(0, 9000)))
    const waits = yield* Effect.map(history(1), ({ waits }) => waits)
    const woken = yield* wake(1, 200)
    assert.isTrue(woken.isWoken)
    const ended = { ...sleep(0, 9000), until: at(200) }
    assert.deepStrictEqual(woken.run, { ...active(1).run, waiting: toWaiting(ended) })
    assert.deepStrictEqual(yield* storedRun(1), woken.run)
    assert.deepStrictEqual((yield* history(1)).waits, [ended, ...waits.slice(1)])
    assert.isTrue(yield* isWoken(2, 300))
    assert.deepStrictEqual((yield* history(2)).waits, [{ ...pause(4, 8000), until: at(300) }])
    assert.deepStrictEqual(yield* claimedAt(199), [])
    assert.deepStrictEqual(yield* claimedAt(250), [runId(1)])
    assert.deepStrictEqual(yield* claimedAt(300), [runId(2)])
    assert.deepStrictEqual(yield* claimedAt(8999), [])
  }),

  check("a second time changes nothing", function* () {
    yield* commit(started(1))
    yield* commit(asleep(1, sleep(0, 9000)))
    const first = yield* wake(1, 200)
    assert.deepStrictEqual(yield* wake(1, 300), first)
    assert.deepStrictEqual((yield* history(1)).waits, [{ ...sleep(0, 9000), until: at(200) }])
    assert.deepStrictEqual(yield* claimedAt(200), [runId(1)])
  }),

  check("of two waits with the same name and end, one ends", function* () {
    yield* commit(started(1))
    const same = { ...sleep(5, 9000), name: "sleep 0" }
    yield* commit(asleep(1, sleep(0, 9000), [same]))
    assert.isTrue(yield* isWoken(1))
    assert.deepStrictEqual((yield* history(1)).waits, [{ ...sleep(0, 9000), until: at(200) }, same])
  }),

  check("a run that is active, has ended or waits for something else stays as it is", function* () {
    yield* commit(started(1), started(2), started(3), started(4))
    yield* commit(
      advanced(1, { waits: [sleep(0, 9000)] }),
      asleep(2, awaitPaid(0, null, { until: at(9000) }), [sleep(1, 9900)]),
      asleep(4, sleep(0, 9000))
    )
    yield* commit(settledWith(active(3).run, deliveryId(3)))
    yield* cancelRun(4)
    for (const n of [1, 2, 3, 4]) {
      const before = yield* storedRun(n)
      assert.deepStrictEqual(yield* wake(n, 200), { run: before, isWoken: false })
      assert.deepStrictEqual(yield* storedRun(n), before)
    }
    assert.deepStrictEqual((yield* history(1)).waits, [sleep(0, 9000)])
    assert.deepStrictEqual(yield* claimedAt(8999), [])
  }),

  check("a run whose node died stays as it is", function* () {
    const journal = yield* JournalStore
    yield* journal.commit([started(1, nodeId(2))], { node_id: nodeId(2), until: at(500) })
    yield* journal.reap(nodeId(1), at(1000), 100)
    assert.isFalse(yield* isWoken(1, 2000))
  }),

  check("fails for an unknown run, and for a run of another environment", function* () {
    yield* commit(started(1), asleep(1, sleep(0, 9000)))
    for (const missing of [wake(2, 200), wake(1, 200, 2)])
      assert.strictEqual((yield* Effect.flip(missing))._tag, "NotFound")
    assert.deepStrictEqual(yield* claimedAt(8999), [])
  }),

  check("leaves a parked delivery parked, and a due one due", function* () {
    const group = { key: "g", limit: 1 }
    yield* commit(started(1, nodeId(1), {}, { group }), started(2))
    yield* commit(asleep(1, sleep(0, 100)), asleep(2, awaitPaid(0), [sleep(1, 9000)]))
    yield* commit(waiting(3, { created_at: at(10) }, { group }))
    assert.deepStrictEqual(yield* claimedAt(50), [runId(800)])
    assert.strictEqual((yield* claimAll(at(100), { runIds: runIds(900, 5) })).parked, 1)
    assert.isTrue(yield* isWoken(1, 90))
    assert.deepStrictEqual(yield* claimedAt(8000, 1000), [])
  }),

  check(
    "a run that continues after its sleep was ended holds a new delivery, and its former holder can write nothing",
    function* () {
      yield* commit(started(1))
      yield* commit(asleep(1, sleep(0, 9000)))
      yield* wake(1, 200)
      const [claim] = (yield* claimAll(at(200), { runIds: runIds(800, 1) })).claims
      assert.isDefined(claim)
      assert.deepStrictEqual([claim.run.waiting, claim.run.activations], [null, 2])
      assert.deepStrictEqual(yield* commit(advanced(1, { steps: [step(0)] })), [false])
      const { delivery, run } = claim
      const next = advanced(1, { deliveryId: delivery.delivery_id, steps: [step(0, { kind: "sleep" })] }, run)
      assert.deepStrictEqual(yield* commit(next), [true])
      assert.deepStrictEqual((yield* history(1)).waits, [])
    }
  ),

  check("neither claims, events nor cancellations at the same time lose or repeat a run", function* () {
    const runs = Array.from({ length: 24 }, (_, index) => index + 1)
    yield* commit(...runs.map((n) => started(n)))
    yield* commit(...runs.map((n) => asleep(n, sleep(0, 500), [awaitPaid(1)])))
    const work: ReadonlyArray<Effect.Effect<unknown, unknown, WorkflowStores>> = runs.flatMap((n) => [
      wake(n, 400),
      ...(n % 4 === 0 ? [cancelRun(n)] : []),
      ...(n % 3 === 0 ? [claimAll(at(450), { runIds: runIds(1000 * n, 2) })] : []),
      ...(n % 8 === 0 ? [arrive(paid(100 + n), 450)] : [])
    ])
    yield* Effect.all(work, { concurrency: "unbounded" })
    yield* claimAll(at(9000), { runIds: runIds(90_000, 100) })
    for (const n of runs) {
      const { status, activations, waiting } = yield* storedRun(n)
      if (n % 4 === 0) assert.strictEqual(status, "cancelled")
      else assert.deepStrictEqual([status, activations, waiting], ["running", 2, null])
    }
  })
]
