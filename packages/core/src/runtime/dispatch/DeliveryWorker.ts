/** Executes claimed deliveries and settles them, whatever happens. */
import { Cause, Clock, Context, Effect, Exit, Layer, Random, Schedule } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import { logOutage } from "../../foundation/Supervised.ts"
import { inTrace } from "../../foundation/telemetry/Spans.ts"
import { addMillis, now as currentTime, Timestamp } from "../../foundation/time/Timestamp.ts"
import type { ActivityEvent } from "../../platform/cluster/ActivityEvent.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import type { Outcome } from "../../platform/sandbox/Outcome.ts"
import { type Executed, type ExecuteError, Executor } from "../execution/Executor.ts"
import { ActiveCanaries } from "../journal/ActiveCanaries.ts"
import { Journal, type WriteCallback } from "../journal/Journal.ts"
import type { Claim, JournalEntry } from "../journal/JournalStore.ts"
import { LocalRuns, toLocalId } from "../journal/LocalRuns.ts"
import { SeriesRecorder } from "../journal/SeriesRecorder.ts"
import { eventActivity, publicationActivity } from "../runs/Activity.ts"
import { endRun, isDeadLetter, isFailure, loseRun, nextDue } from "../runs/Attempt.ts"
import { findExpiry } from "../runs/Expiry.ts"
import type { LogEntry } from "../runs/Run.ts"
import { buildTrigger } from "../runs/Trigger.ts"
import type { ChildRef } from "../runs/WorkflowStore.ts"
import { ChildRuns } from "../workflows/ChildRuns.ts"
import { type ActivationEnd, Workflows } from "../workflows/Workflows.ts"
import { Claimer } from "./Claimer.ts"
import { makeFailureEvents } from "./FailureEvents.ts"
import { makeRenew } from "./Renewals.ts"

/** Pause in milliseconds before the retry of a delivery that could not be executed, through no fault of its code. */
const unavailableDelayMs = 1_000

/** Maximum wait of a run for the processor in milliseconds. Beyond it the wait counts as an error of its function. */
const queueTimeoutMs = 3_600_000

/** Retries of a settlement. The result stays in memory until it is stored. */
const settleRetry = Schedule.min([Schedule.exponential("50 millis"), Schedule.spaced("2 seconds")])

export class DeliveryWorker extends Context.Service<
  DeliveryWorker,
  {
    /**
     * Starts a claimed delivery without a fiber except the guest's. `done` is called once the attempt is settled, with
     * the time of the next attempt, or null if there is no other. Returns a function that interrupts the delivery: it
     * stops the guest and releases the delivery.
     */
    readonly start: (
      claim: Claim,
      context: Context.Context<never>,
      done: (retryAt: Timestamp | null) => void
    ) => () => void
    /**
     * Stops retries of settlements, because the node shuts down. The node that reaps such a run retries its delivery.
     */
    readonly stopRetries: () => void
  }
>()("@weft/core/runtime/dispatch/DeliveryWorker") {
  static readonly layer = Layer.effect(
    DeliveryWorker,
    Effect.gen(function* () {
      const journal = yield* Journal
      const executor = yield* Executor
      const bus = yield* ClusterBus
      const claimer = yield* Claimer
      const localRuns = yield* LocalRuns
      const workflows = yield* Workflows
      const childRuns = yield* ChildRuns
      const renew = yield* makeRenew
      const failures = yield* makeFailureEvents
      const series = yield* SeriesRecorder
      const canaries = yield* ActiveCanaries
      const clock = yield* Clock.Clock

      let isStopping = false

      const untilStored = <A>(effect: Effect.Effect<A, StoreUnavailable>) =>
        Effect.retry(effect, { schedule: settleRetry, while: () => !isStopping })

      /** Frees capacity of the group after a settlement, and returns the time of the next attempt. */
      const afterSettlement = ({ delivery }: Claim, entry: Settlement): Timestamp | null => {
        if (delivery.awaited === true && entry._tag === "Settled" && entry.next === null) childRuns.ended([delivery])
        if (delivery.group !== null) claimer.unparkLater({ env_id: delivery.env_id, key: delivery.group.key })
        return entry._tag === "Settled" ? (entry.next?.due_at ?? null) : (entry.suspension?.due_at ?? null)
      }

      /** Suspends a durable run whose cleanup was requested before its end was stored. Any other belongs to another node. */
      const continueCancelled = Effect.fnUntraced(
        function* (claim: Claim, entry: Settlement) {
          const found = entry._tag === "Settled" ? workflows.afterRejection(claim, entry.logs) : Effect.succeed(null)
          const suspension = yield* untilStored(found)
          if (suspension === null) return null
          return (yield* untilStored(journal.write(suspension))) ? afterSettlement(claim, suspension) : null
        },
        Effect.catchTag("StoreUnavailable", (error) => Effect.as(logOutage(error), null))
      )

      /** Handles an entry that did not count. */
      const afterRejection = Effect.fnUntraced(function* (claim: Claim, entry: Settlement) {
        const retryAt = afterSettlement(claim, entry)
        // A cancelled run is already settled; any other now belongs to another node.
        if (entry.run.status !== "cancelled") return yield* continueCancelled(claim, entry)
        yield* bus.publish(handledActivity(claim, entry))
        return retryAt
      })

      /** Settles an attempt, with retries. */
      const settle = Effect.fnUntraced(
        function* (claim: Claim, settlement: Settlement, children: ReadonlyArray<ChildRef> = []) {
          const isFollowed = settlement._tag === "Settled" && failures.mayFollow(claim, settlement)
          const entry = isFollowed ? yield* untilStored(failures.follow(claim, settlement)) : settlement
          const isCounted = yield* untilStored(journal.write(entry, () => handledActivity(claim, entry)))
          if (isCounted || entry.run.status === "cancelled") childRuns.abandon(children)
          if (!isCounted) return yield* afterRejection(claim, entry)
          if (entry._tag === "Settled") yield* failures.stored(entry)
          return afterSettlement(claim, entry)
        },
        Effect.catchTag("StoreUnavailable", (error) => Effect.as(logOutage(error), null))
      )

      /** Lets the deployed build retry a run of a canary that was rolled back meanwhile. */
      const redirected = (entry: Settled): Settled => {
        const build_id = entry.next === null ? undefined : canaries.findRedirect(entry.run)
        return entry.next === null || build_id === undefined ? entry : { ...entry, next: { ...entry.next, build_id } }
      }

      /** Settles an attempt whose execution failed. */
      const settleFailed = Effect.fnUntraced(function* (claim: Claim, cause: Cause.Cause<ExecuteError>) {
        const executed = (yield* toExecuted(cause)) ?? { lostLogs: yield* executor.logged(claim.run) }
        const entry = buildSettlement(claim, executed, yield* currentTime, yield* Random.next)
        return yield* settle(claim, redirected(entry))
      })

      /** Stores the end of an activation. Returns when the run continues. */
      const concludeActivation = (claim: Claim, end: ActivationEnd) =>
        Effect.gen(function* () {
          const retryAt = yield* storeActivation(claim, end)
          return workflows.release(claim) ? yield* currentTime : retryAt
        })

      const storeActivation = Effect.fnUntraced(function* (claim: Claim, end: ActivationEnd) {
        if (end._tag === "Suspended") return yield* settle(claim, end.entry)
        const children = end.children.map((event_id) => ({ env_id: claim.run.env_id, event_id }))
        if (end._tag === "Renewed" && (yield* renewRun(claim, end, children))) return null
        const executed = end._tag === "Ended" ? end.executed : { ...unwanted, logs: end.logs }
        const settlement = buildSettlement(claim, executed, yield* currentTime, null)
        return yield* settle(claim, settlement, children)
      })

      /** Continues a durable run as a new one. Returns false if no such run is wanted. */
      const renewRun = Effect.fnUntraced(
        function* (claim: Claim, end: Extract<ActivationEnd, { _tag: "Renewed" }>, children: ReadonlyArray<ChildRef>) {
          const isCounted = yield* untilStored(renew(claim, end))
          if (!isCounted) return false
          childRuns.abandon(children)
          const { group, env_id } = claim.delivery
          if (group !== null) claimer.unparkLater({ env_id, key: group.key })
          return true
        },
        Effect.catchTag("StoreUnavailable", (error) => Effect.as(logOutage(error), true))
      )

      return DeliveryWorker.of({
        stopRetries: () => {
          isStopping = true
          workflows.stopRetries()
        },
        start: (claim, context, done) => {
          const { delivery, event, run } = claim
          const traced = inTrace(delivery.traceparent, context)
          const end = (retryAt: Timestamp | null) => {
            localRuns.end([toLocalId(claim)])
            done(retryAt)
          }
          const endWith = (rest: Effect.Effect<Timestamp | null>) => {
            Effect.runForkWith(traced)(rest).addObserver((exit) => end(Exit.isSuccess(exit) ? exit.value : null))
          }
          const settleNow = (executed: Executed) => {
            const draw = isFailure(executed.execution.outcome) ? Effect.runSyncWith(context)(Random.next) : 0
            const now = Timestamp.make(clock.currentTimeMillisUnsafe(), { disableChecks: true })
            const entry = redirected(buildSettlement(claim, executed, now, draw))
            if (failures.mayFollow(claim, entry)) return endWith(settle(claim, entry))
            const written: WriteCallback = (exit) => {
              if (Exit.isFailure(exit)) endWith(settle(claim, entry))
              else if (exit.value) end(afterSettlement(claim, entry))
              else endWith(afterRejection(claim, entry))
            }
            journal.append(entry, written, () => handledActivity(claim, entry))
          }
          const expiry = findExpiry(delivery, event, run.start_time)
          if (expiry !== null) {
            settleNow(failed(expiry))
            return () => undefined
          }
          series.countStart(claim)
          if (delivery.durable) {
            return workflows.start(claim)(traced, (exit) => {
              const concluded = Exit.isSuccess(exit) ? concludeActivation(claim, exit.value) : Effect.succeed(null)
              endWith(
                Effect.ensuring(
                  concluded,
                  Effect.sync(() => workflows.release(claim))
                )
              )
            })
          }
          try {
            const work = {
              run,
              depth: delivery.depth,
              ...buildTrigger(claim),
              body: null,
              caller: null,
              timeoutMs: delivery.timeout_ms,
              queueTimeoutMs,
              preface: [],
              durable: null,
              recording: delivery.recording
            }
            return executor.start(work)(traced, (exit) => {
              if (Exit.isSuccess(exit)) settleNow(exit.value)
              else endWith(settleFailed(claim, exit.cause))
            })
          } catch (error) {
            endWith(settleFailed(claim, Cause.die(error)))
            return () => undefined
          }
        }
      })
    })
  )
}

/** Returns the activity of events whose delivery has no further attempt, and of the event about its failure. */
const handledActivity = ({ event, events = [event] }: Claim, entry: Settlement): ReadonlyArray<ActivityEvent> => {
  if (entry._tag !== "Settled" || entry.next !== null) return []
  const followed = entry.followUp === undefined ? [] : publicationActivity(entry.followUp.event, false)
  return [...events.map((each) => eventActivity("event:handled", each)), ...followed]
}

type Settled = Extract<JournalEntry, { _tag: "Settled" }>

/** The end of an attempt, or of an activation of a durable run. */
type Settlement = Extract<JournalEntry, { _tag: "Settled" | "Advanced" }>

/** Returns the result of a failed execution, or null if the attempt does not count. */
const toExecuted = (cause: Cause.Cause<ExecuteError>): Effect.Effect<Executed | null> => {
  const { reasons } = cause
  if (reasons.some((reason) => reason._tag === "Fail" && reason.error._tag === "NotFound")) {
    return Effect.succeed(buildGone)
  }
  if (reasons.some((reason) => reason._tag === "Die")) {
    // A defect in Weft counts as an attempt, so that the delivery is not retried indefinitely.
    return Effect.as(Effect.logError("A delivery failed with a defect", cause), defect)
  }
  return Effect.as(
    Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logWarning("A delivery is retried because of", cause),
    null
  )
}

const failed = (outcome: Outcome): Executed => ({
  execution: { outcome, usage: { cpu_ms: 0, wall_ms: 0, heap_bytes: 0 } },
  logs: []
})
const defect = failed({
  _tag: "Threw",
  name: "InternalError",
  message: "The run failed with an internal error",
  stack: ""
})
/** The end of a run that continues as a new one for which no run waits. */
const unwanted = failed({ _tag: "Cancelled" })
const buildGone = failed({ _tag: "BuildGone" })

/** Log of an attempt that does not count. */
interface LostAttempt {
  readonly lostLogs: ReadonlyArray<LogEntry>
}

/** Returns the settlement of an attempt. `draw` is null for a durable run, which has no further attempt. */
const buildSettlement = (
  { delivery, run }: Claim,
  executed: Executed | LostAttempt,
  now: Timestamp,
  draw: number | null
): Settled => {
  const settled = { _tag: "Settled", deliveryId: delivery.delivery_id } as const
  const first_run_id = delivery.first_run_id ?? run.run_id
  if ("lostLogs" in executed) {
    const lost = loseRun(run, "NodeLost", "This node could not finish the run; it is retried", now)
    const next = { attempt: delivery.attempt, due_at: addMillis(now, unavailableDelayMs), first_run_id }
    return { ...settled, run: lost, logs: executed.lostLogs, next }
  }
  const { execution, logs } = executed
  const due_at = draw === null ? null : nextDue(delivery.retry, delivery.attempt, execution.outcome, now, draw)
  const next = due_at === null ? null : { attempt: delivery.attempt + 1, due_at, first_run_id }
  const ended = endRun(run, execution, now)
  const entry = { ...settled, run: ended, logs, next }
  return isDeadLetter(delivery, ended, next) ? { ...entry, isDead: true } : entry
}
