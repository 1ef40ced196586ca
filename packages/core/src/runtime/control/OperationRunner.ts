/**
 * Executes operations on many runs, batch by batch.
 *
 * A node takes an operation with a lease and a fence. Each batch is one transaction: its effects, its progress, and the next
 * end of the lease. It counts only if the operation is running, still has the fence, and is at the position that the node
 * read. So no run is processed twice, and a cancelled operation has no further effect. If a node dies, another one finds the
 * expired lease with its poll and continues from the stored position.
 */
import { Clock, Context, Duration, Effect, Latch, Layer, Semaphore } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import { forkSupervised, logOutage } from "../../foundation/Supervised.ts"
import { addMillis, now as currentTime } from "../../foundation/time/Timestamp.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { nextTurn, Turns } from "../../platform/turns/Turns.ts"
import { makeNotifyCancelled } from "../dispatch/CancelledRuns.ts"
import { Claimer } from "../dispatch/Claimer.ts"
import { Slots } from "../dispatch/Slots.ts"
import { StorePoller } from "../journal/StorePoller.ts"
import { UnconfirmedWrites } from "../journal/UnconfirmedWrites.ts"
import { addFailures, type OperationKind, type StoredOperation } from "../runs/Operation.ts"
import type { OperationStep } from "../runs/OperationStep.ts"
import { OperationStore } from "../runs/OperationStore.ts"
import { RunControlStore } from "../runs/RunControlStore.ts"
import { makePrepareReplays } from "./BatchReplay.ts"
import type { BatchEffects, PrepareBatch } from "./OperationWork.ts"

/** Lease of an operation, in milliseconds. Every batch renews it. */
const leaseMs = 30_000

/** Maximum operations that a node holds. Others wait until one has ended, or for another node. */
const heldMax = 16

/** Maximum concurrent batches of a node. Operations take turns in order. */
const concurrentMax = 2

/** Maximum runs of a batch. */
const batchMax = 100

/** Runs of the first batch. */
const batchMin = 10

/** Longest time of a batch, in milliseconds. After a longer one, batches are smaller: the writes of others wait for it. */
const batchMs = 15

/** Shortest pause between batches, in milliseconds, and the pause in relation to the time of the batch before. */
const pauseMs = 10
const pausePerBatch = 3

/** Pause in milliseconds if a limit of the plan is reached. */
const limitedMs = 5_000

/** Pause in milliseconds after the store did not answer. */
const unavailableMs = 1_000

/** Due deliveries of an environment from which replays wait, so that new events need not queue behind many replays. */
const dueMax = 1_000

/** Interval in milliseconds in which due deliveries are counted, and the maximum wait for fewer of them. */
const dueEveryMs = 250
const dueWaitMs = 5_000

export class OperationRunner extends Context.Service<
  OperationRunner,
  {
    /** Takes new operations if the node holds fewer than its maximum. Returns at once. */
    readonly wake: () => void
  }
>()("@weft/core/runtime/control/OperationRunner") {
  static readonly layer = Layer.effect(
    OperationRunner,
    Effect.gen(function* () {
      const store = yield* OperationStore
      const poller = yield* StorePoller
      const execute = yield* makeExecute
      const scope = yield* Effect.scope
      const wake = Latch.makeUnsafe(false)
      let held = 0

      const take = Effect.gen(function* () {
        wake.closeUnsafe()
        while (held < heldMax) {
          const now = yield* currentTime
          const operation = yield* store.acquire(now, addMillis(now, leaseMs))
          if (operation === null) break
          held++
          const end = Effect.sync(() => {
            held--
            wake.openUnsafe()
          })
          yield* Effect.forkIn(Effect.ensuring(execute(operation), end), scope)
        }
        yield* wake.await
      })
      yield* forkSupervised({ name: "The operations on runs" }, Effect.andThen(wake.await, take))

      // Finds operations of nodes that died. Without open operations, this node sends nothing to the store.
      yield* poller.onPoll(({ operations }) => {
        if (operations) wake.openUnsafe()
      })

      return OperationRunner.of({ wake: () => void wake.openUnsafe() })
    })
  )
}

/** Returns a function that executes an operation until it ends, or another node holds it. */
const makeExecute = Effect.gen(function* () {
  const store = yield* OperationStore
  const turns = yield* Turns
  const permits = Semaphore.makeUnsafe(concurrentMax)
  const { runBatch, fail } = yield* makeRunBatch

  /** Returns the operation as stored; null if this node no longer holds it. */
  const readHeld = ({ env_id, operation_id, fence }: StoredOperation) =>
    store.get(env_id, operation_id).pipe(
      Effect.map((found) => (found.fence === fence && found.state === "running" ? found : null)),
      Effect.catchTag("NotFound", () => Effect.succeed(null))
    )

  const waitForFewerDue = Effect.fnUntraced(function* ({ env_id, kind }: StoredOperation) {
    if (kind === "cancel") return
    for (let waited = 0; waited < dueWaitMs; waited += dueEveryMs) {
      if ((yield* store.countDue(env_id, yield* currentTime, dueMax)) < dueMax) return
      yield* Effect.sleep(dueEveryMs)
    }
  })

  const executeAll = Effect.fnUntraced(function* (acquired: StoredOperation) {
    const pace = makePace(acquired.options.rate)
    const attempt = Effect.fnUntraced(function* (operation: StoredOperation) {
      yield* waitForFewerDue(operation)
      const turn = nextTurn(turns, operation.env_id, "list")
      const batch = Effect.timed(runBatch(operation, pace.size()))
      const [took, { next, processed }] = yield* permits.withPermit(Effect.andThen(turn, batch))
      yield* pace.after(processed, next?.waiting ?? null, Duration.toMillis(took))
      return next ?? (yield* readHeld(operation))
    })
    let operation: StoredOperation | null = acquired
    while (operation?.state === "running") {
      const current: StoredOperation = operation
      operation = yield* Effect.catchTag(attempt(current), "StoreUnavailable", (error) =>
        // The batch may be stored or not: its position says.
        Effect.andThen(Effect.andThen(logOutage(error), Effect.sleep(unavailableMs)), retryRead(readHeld(current)))
      )
    }
  })

  return (operation: StoredOperation): Effect.Effect<void> =>
    executeAll(operation).pipe(
      Effect.catchDefect((defect) =>
        Effect.andThen(Effect.logError(`The operation ${operation.operation_id} failed`, defect), fail(operation))
      ),
      Effect.onInterrupt(() => Effect.ignore(store.release(operation)))
    )
})

const retryRead = <A>(read: Effect.Effect<A, StoreUnavailable>): Effect.Effect<A> =>
  Effect.catch(read, (error) =>
    Effect.andThen(Effect.andThen(logOutage(error), Effect.sleep(unavailableMs)), retryRead(read))
  )

/** Returns the sizes of batches and the pauses between them. `rate` is the maximum number of runs per second. */
const makePace = (rate = Number.POSITIVE_INFINITY) => {
  const largest = Math.min(batchMax, Math.max(1, Math.floor(rate / 2)))
  let size = Math.min(largest, batchMin)
  let due = 0
  return {
    size: () => size,
    after: Effect.fnUntraced(function* (processed: number, waiting: string | null, tookMs: number) {
      // A limit may allow a smaller batch.
      const isSmaller = waiting !== null || tookMs > batchMs
      size = isSmaller ? Math.max(1, Math.floor(size / 2)) : Math.min(largest, size * 2)
      if (waiting !== null && size === 1) return yield* Effect.sleep(limitedMs)
      const now = yield* Clock.currentTimeMillis
      due = Math.max(due, now) + (processed * 1000) / rate
      yield* Effect.sleep(Math.max(pauseMs, tookMs * pausePerBatch, due - now))
    })
  }
}

/** Returns functions that execute a batch, and that end an operation as failed. */
const makeRunBatch = Effect.gen(function* () {
  const store = yield* OperationStore
  const control = yield* RunControlStore
  const unconfirmed = yield* UnconfirmedWrites
  const notifyCancelled = yield* makeNotifyCancelled
  const claimer = yield* Claimer
  const slots = yield* Slots
  const bus = yield* ClusterBus
  const again = yield* makePrepareReplays
  const kinds: Readonly<Record<OperationKind, PrepareBatch>> = { cancel: prepareCancels, replay: again, redrive: again }

  /** Stores a step. Returns the operation after it; null if the step does not count. */
  const advance = Effect.fnUntraced(function* (step: OperationStep) {
    const progress = yield* unconfirmed.track(control.advance(step))
    if (progress === null) return null
    const { operation, cancelled } = progress
    if (cancelled.length > 0) yield* notifyCancelled(cancelled)
    if (step.deliveries.length + step.redrives.length > 0) {
      claimer.claim(slots.addPending(operation.env_id))
      yield* bus.sendControl([{ type: "deliveries:waiting", node_id: null }])
    }
    return operation
  }, Effect.uninterruptible)

  const stay = Effect.map(currentTime, (at) => ({
    ...nothing,
    ...{ failed: 0, waiting: null, at, until: addMillis(at, leaseMs), end: null }
  }))

  const runBatch = Effect.fnUntraced(function* (operation: StoredOperation, size: number) {
    const { after_run_id, failures } = operation
    const targets = yield* store.targets(operation, after_run_id, size)
    const limited = ({ message }: { readonly message: string }) => Effect.succeed({ ...nothing, waiting: message })
    const found = yield* kinds[operation.kind](operation, targets).pipe(
      Effect.map((effects) => ({ ...effects, waiting: null })),
      Effect.catchTag(["PlanRequired", "RateLimited", "NotFound"], limited)
    )
    const isLast = found.waiting === null && found.examined === targets.length && targets.length < size
    const next = yield* advance({
      ...(yield* stay),
      operation,
      next: targets[found.examined - 1]?.run_id ?? after_run_id,
      ...{ deliveries: found.deliveries, redrives: found.redrives, cancels: found.cancels },
      ...{ skipped: found.skipped, waiting: found.waiting },
      failed: found.failures.length,
      failures: addFailures(failures, found.failures),
      end: isLast ? { state: "succeeded", error: null } : null
    })
    return { next, processed: found.deliveries.length + found.redrives.length + found.cancels.length }
  })

  const fail = (operation: StoredOperation) =>
    Effect.gen(function* () {
      const { env_id, operation_id, fence } = operation
      const stored = yield* store.get(env_id, operation_id)
      if (stored.fence !== fence) return
      const end = { state: "failed" as const, error: "An internal error; the server's log has the details" }
      const { after_run_id, failures } = stored
      yield* advance({ ...(yield* stay), operation: stored, next: after_run_id, failures, end })
    }).pipe(Effect.ignore({ log: "Warn" }))

  return { runBatch, fail }
})

const nothing: BatchEffects = { examined: 0, deliveries: [], redrives: [], cancels: [], skipped: 0, failures: [] }

const prepareCancels: PrepareBatch = (_, targets) =>
  Effect.succeed({ ...nothing, examined: targets.length, cancels: targets.map(({ run_id }) => run_id) })
