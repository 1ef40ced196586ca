/** Sees one claimed delivery through: executes it and settles it, whatever happens. */
import { Cause, Context, Effect, Exit, Layer, Random, Schedule } from "effect"
import { Feed } from "../activity/Feed.ts"
import { addMillis, now as currentTime, type Timestamp } from "../ids/Timestamp.ts"
import type { Outcome } from "../sandbox/Outcome.ts"
import { inTrace } from "../tracing/Spans.ts"
import { endRun, loseRun, nextDue } from "./Attempt.ts"
import { type Executed, Executor } from "./Executor.ts"
import { Groups } from "./Groups.ts"
import { Journal } from "./Journal.ts"
import type { Claim, JournalEntry } from "./JournalStore.ts"
import { OwnRuns } from "./OwnRuns.ts"
import type { LogEntry } from "./Run.ts"
import { triggerOf } from "./Trigger.ts"

/** Pause before a delivery that could not be executed, by no fault of its code, is tried again. */
const unavailableDelayMs = 1_000

/** A result is kept in memory until the store takes it. */
const settleRetry = Schedule.min([Schedule.exponential("50 millis"), Schedule.spaced("2 seconds")])

export class DeliveryWorker extends Context.Service<
  DeliveryWorker,
  {
    /**
     * Never fails. Returns when the attempt is settled: when the next attempt is due, or null when the delivery is
     * done. Interruption stops the guest and gives the delivery back.
     */
    readonly see: (claim: Claim) => Effect.Effect<Timestamp | null>
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
      const groups = yield* Groups
      const own = yield* OwnRuns

      let hurried = false

      /** Whether the entry counted; null when the store did not take it. */
      const settle = (entry: JournalEntry) =>
        Effect.retry(journal.write(entry), { schedule: settleRetry, while: () => !hurried }).pipe(
          Effect.catchTag("StoreUnavailable", (error) => Effect.as(Effect.logWarning(error.message), null))
        )

      return DeliveryWorker.of({
        hurry: () => {
          hurried = true
        },
        see: (claim) =>
          inTrace(
            claim.delivery.traceparent,
            Effect.uninterruptibleMask((restore) =>
              Effect.gen(function* () {
                const { delivery, event, run } = claim
                const executed = yield* Effect.exit(
                  restore(
                    executor.execute({
                      run,
                      ...triggerOf(event),
                      caller: null,
                      timeoutMs: delivery.timeout_ms,
                      preface: []
                    })
                  )
                )
                const account = (yield* accountFor(executed)) ?? { lostLogs: yield* executor.logged(run) }
                const entry = settlement(claim, account, yield* currentTime, yield* Random.next)
                const counted = yield* settle(entry)
                if (counted === null) return null
                if (delivery.group !== null) groups.ended({ env_id: delivery.env_id, key: delivery.group.key })
                // A cancelled run is settled already; any other that does not count is somebody else's by now.
                if (!counted && entry.run.status !== "cancelled") return null
                if (entry.next === null) {
                  const { env_id, event_id, stream_id, event_type } = event
                  yield* feed.publish([{ type: "event:handled", env_id, event_id, stream_id, event_type }])
                }
                return entry.next?.due_at ?? null
              })
            )
          ).pipe(Effect.ensuring(Effect.sync(() => own.end([claim.run.run_id]))))
      })
    })
  )
}

type Settled = Extract<JournalEntry, { _tag: "Settled" }>

/** What was executed, or null when it was not to be had and the attempt does not count. */
const accountFor = (exit: Exit.Exit<Executed, Failure>): Effect.Effect<Executed | null> => {
  if (Exit.isSuccess(exit)) return Effect.succeed(exit.value)
  const { reasons } = exit.cause
  if (reasons.some((reason) => reason._tag === "Fail" && reason.error._tag === "NotFound")) {
    return Effect.succeed(gone)
  }
  if (reasons.some((reason) => reason._tag === "Die")) {
    // A defect of ours counts as an attempt, or it would be tried for ever.
    return Effect.as(Effect.logError("A delivery met a defect", exit.cause), defect)
  }
  return Effect.as(
    Cause.hasInterruptsOnly(exit.cause) ? Effect.void : Effect.logWarning("A delivery waits for", exit.cause),
    null
  )
}

type Failure = Effect.Error<ReturnType<Executor["Service"]["execute"]>>

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
