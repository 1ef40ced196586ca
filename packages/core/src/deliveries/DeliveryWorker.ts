/** Sees one claimed delivery through: executes it and settles it, whatever happens. */
import { Cause, Clock, Context, Effect, Exit, Layer, Random, Schedule } from "effect"
import type { Activity } from "../activity/Activity.ts"
import { Feed } from "../activity/Feed.ts"
import { logOutage } from "../errors/Lasting.ts"
import { type Executed, type ExecuteError, Executor } from "../execution/Executor.ts"
import { addMillis, now as currentTime, Timestamp } from "../ids/Timestamp.ts"
import { Journal, type Written } from "../journal/Journal.ts"
import type { Claim, JournalEntry } from "../journal/JournalStore.ts"
import { OwnRuns } from "../journal/OwnRuns.ts"
import { endRun, isFailure, loseRun, nextDue } from "../runs/Attempt.ts"
import type { LogEntry } from "../runs/Run.ts"
import { triggerOf } from "../runs/Trigger.ts"
import type { Outcome } from "../sandbox/Outcome.ts"
import { inTrace } from "../tracing/Spans.ts"
import { Claimer } from "./Claimer.ts"

/** Pause before a delivery that could not be executed, by no fault of its code, is tried again. */
const unavailableDelayMs = 1_000

/** How long a run may wait behind others that compute, in milliseconds, before that is held against its function. */
const patienceMs = 3_600_000

/** A result is kept in memory until the store takes it. */
const settleRetry = Schedule.min([Schedule.exponential("50 millis"), Schedule.spaced("2 seconds")])

export class DeliveryWorker extends Context.Service<
  DeliveryWorker,
  {
    /**
     * Begins what is claimed; no fiber runs for it but the guest's. `done` is told once the attempt is settled: when the
     * next attempt is due, or null when the delivery is done. Gives how to interrupt it: that stops the guest and gives
     * the delivery back.
     */
    readonly start: (
      claim: Claim,
      context: Context.Context<never>,
      done: (retryAt: Timestamp | null) => void
    ) => () => void
    /**
     * From now on a result that the store does not take at once is given up: the node ends, and who reaps the run tries
     * its delivery again.
     */
    readonly hurry: () => void
  }
>()("@weft/core/runs/DeliveryWorker") {
  static readonly layer = Layer.effect(
    DeliveryWorker,
    Effect.gen(function* () {
      const journal = yield* Journal
      const executor = yield* Executor
      const feed = yield* Feed
      const claimer = yield* Claimer
      const own = yield* OwnRuns
      const clock = yield* Clock.Clock

      let hurried = false

      const left = ({ delivery }: Claim, { next }: Settled): Timestamp | null => {
        if (delivery.group !== null) claimer.freed({ env_id: delivery.env_id, key: delivery.group.key })
        return next?.due_at ?? null
      }

      /** What there is still to do for an entry that did not count. */
      const notCounted = Effect.fnUntraced(function* (claim: Claim, entry: Settled) {
        const retryAt = left(claim, entry)
        // A cancelled run is settled already; any other is somebody else's by now.
        if (entry.run.status !== "cancelled") return null
        yield* feed.publish(handled(claim, entry))
        return retryAt
      })

      /** As often as it takes. */
      const settle = Effect.fnUntraced(
        function* (claim: Claim, entry: Settled) {
          const write = journal.write(entry, () => handled(claim, entry))
          const isCounted = yield* Effect.retry(write, { schedule: settleRetry, while: () => !hurried })
          return isCounted ? left(claim, entry) : yield* notCounted(claim, entry)
        },
        Effect.catchTag("StoreUnavailable", (error) => Effect.as(logOutage(error), null))
      )

      /** What came to no end of its own. */
      const settleFailed = Effect.fnUntraced(function* (claim: Claim, cause: Cause.Cause<ExecuteError>) {
        const account = (yield* accountFor(cause)) ?? { lostLogs: yield* executor.logged(claim.run) }
        return yield* settle(claim, settlement(claim, account, yield* currentTime, yield* Random.next))
      })

      return DeliveryWorker.of({
        hurry: () => {
          hurried = true
        },
        start: (claim, context, done) => {
          const { delivery, event, run } = claim
          const traced = inTrace(delivery.traceparent, context)
          const end = (retryAt: Timestamp | null) => {
            own.end([run.run_id])
            done(retryAt)
          }
          const endBy = (rest: Effect.Effect<Timestamp | null>) => {
            Effect.runForkWith(traced)(rest).addObserver((exit) => end(Exit.isSuccess(exit) ? exit.value : null))
          }
          const settleNow = (executed: Executed) => {
            const draw = isFailure(executed.execution.outcome) ? Effect.runSyncWith(context)(Random.next) : 0
            const now = Timestamp.make(clock.currentTimeMillisUnsafe(), { disableChecks: true })
            const entry = settlement(claim, executed, now, draw)
            const written: Written = (exit) => {
              if (Exit.isFailure(exit)) endBy(settle(claim, entry))
              else if (exit.value) end(left(claim, entry))
              else endBy(notCounted(claim, entry))
            }
            journal.append(entry, written, () => handled(claim, entry))
          }
          try {
            const work = {
              run,
              ...triggerOf(event),
              body: null,
              caller: null,
              timeoutMs: delivery.timeout_ms,
              patienceMs,
              preface: []
            }
            return executor.start(work)(traced, (exit) => {
              if (Exit.isSuccess(exit)) settleNow(exit.value)
              else endBy(settleFailed(claim, exit.cause))
            })
          } catch (error) {
            endBy(settleFailed(claim, Cause.die(error)))
            return () => undefined
          }
        }
      })
    })
  )
}

/** What is told of the event when the entry counts. */
const handled = ({ event }: Claim, { next }: Settled): ReadonlyArray<Activity> => {
  const { env_id, event_id, stream_id, event_type } = event
  return next === null ? [{ type: "event:handled", env_id, event_id, stream_id, event_type }] : []
}

type Settled = Extract<JournalEntry, { _tag: "Settled" }>

/** What was executed, or null when it was not to be had and the attempt does not count. */
const accountFor = (cause: Cause.Cause<ExecuteError>): Effect.Effect<Executed | null> => {
  const { reasons } = cause
  if (reasons.some((reason) => reason._tag === "Fail" && reason.error._tag === "NotFound")) {
    return Effect.succeed(gone)
  }
  if (reasons.some((reason) => reason._tag === "Die")) {
    // A defect of ours counts as an attempt, or it would be tried for ever.
    return Effect.as(Effect.logError("A delivery met a defect", cause), defect)
  }
  return Effect.as(
    Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logWarning("A delivery waits for", cause),
    null
  )
}

const failed = (outcome: Outcome): Executed => ({
  execution: { outcome, usage: { cpu_ms: 0, wall_ms: 0, heap_bytes: 0 } },
  logs: []
})
const defect = failed({ _tag: "Threw", name: "InternalError", message: "The run met an internal error", stack: "" })
const gone = failed({ _tag: "BuildGone" })

/** An attempt that does not count. */
interface Lost {
  readonly lostLogs: ReadonlyArray<LogEntry>
}

const settlement = ({ delivery, run }: Claim, executed: Executed | Lost, now: Timestamp, draw: number): Settled => {
  const settled = { _tag: "Settled", deliveryId: delivery.delivery_id } as const
  const first_run_id = delivery.first_run_id ?? run.run_id
  if ("lostLogs" in executed) {
    const lost = loseRun(run, "NodeLost", "The run could not be finished here and is tried again", now)
    const next = { attempt: delivery.attempt, due_at: addMillis(now, unavailableDelayMs), first_run_id }
    return { ...settled, run: lost, logs: executed.lostLogs, next }
  }
  const { execution, logs } = executed
  const due_at = nextDue(delivery.retry, delivery.attempt, execution.outcome, now, draw)
  const next = due_at === null ? null : { attempt: delivery.attempt + 1, due_at, first_run_id }
  return { ...settled, run: endRun(run, execution, now), logs, next }
}
