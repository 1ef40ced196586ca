/** Executes durable runs: each claim of one is an activation. */
import { Cause, Context, Effect, Exit, Layer, Schedule } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { RunId } from "../../foundation/Ids.ts"
import { InFlightMap } from "../../foundation/InFlightMap.ts"
import { forkSupervised, logOutage } from "../../foundation/Supervised.ts"
import { addMillis, now as currentTime } from "../../foundation/time/Timestamp.ts"
import { subscribe } from "../../platform/cluster/subscribe.ts"
import type { Outcome } from "../../platform/sandbox/Outcome.ts"
import { nextTurn, Turns } from "../../platform/turns/Turns.ts"
import type { CallbackTask } from "../execution/CallbackTask.ts"
import { type Executed, type ExecuteError, Executor } from "../execution/Executor.ts"
import { Journal } from "../journal/Journal.ts"
import type { Claim } from "../journal/JournalStore.ts"
import type { LogEntry, Run } from "../runs/Run.ts"
import { buildTrigger } from "../runs/Trigger.ts"
import { emptyHistory, formatWaiting, type History, type Waiting, type WaitRecord } from "../runs/Workflow.ts"
import { type LoadedRun, WorkflowStore } from "../runs/WorkflowStore.ts"
import { Activation } from "./Activation.ts"
import type { Advanced } from "./ActivationOptions.ts"
import { Arrivals } from "./Arrivals.ts"
import { cleanupOver, conclusion } from "./Cancellation.ts"
import { HistoryMemory } from "./HistoryMemory.ts"
import { defaultWorkflowLimits } from "./HistorySize.ts"
import { formatDurableFact, formatResult } from "./Replay.ts"
import { afterStall } from "./Stall.ts"

/** The end of an activation. */
export type ActivationEnd =
  /** The run has ended. */
  { readonly _tag: "Ended"; readonly executed: Executed } | SuspendedActivation

/** The run is to be suspended by this entry. */
interface SuspendedActivation {
  readonly _tag: "Suspended"
  readonly entry: Advanced
}

/** Maximum duration of an activation in milliseconds. A run beyond it continues in another one. */
const activationMaxMs = 3_600_000

/** Pause in milliseconds before a run continues whose activation failed through no fault of its code. */
const unavailableDelayMs = 1_000

/** Interval of queries for requested cleanups, in milliseconds. */
const cleanupCheckMs = 10_000

const writeRetry = Schedule.min([Schedule.exponential("50 millis"), Schedule.spaced("2 seconds")])

export class Workflows extends Context.Service<
  Workflows,
  {
    /**
     * Executes an activation of a claimed durable run. If the run cannot be executed now, or is interrupted, it ends with
     * `Suspended`.
     */
    readonly start: (claim: Claim) => CallbackTask<ActivationEnd, never>
    /**
     * Returns an entry that suspends the run, if its end did not count because its cleanup was requested before. It
     * continues at once, and cleans up.
     */
    readonly afterRejection: (
      claim: Claim,
      logs: ReadonlyArray<LogEntry>
    ) => Effect.Effect<Advanced | null, StoreUnavailable>
    /** Stops retries of writes, because the node shuts down. */
    readonly stopRetries: () => void
  }
>()("@weft/core/runtime/workflows/Workflows") {
  static readonly layer = Layer.effect(
    Workflows,
    Effect.gen(function* () {
      const journal = yield* Journal
      const store = yield* WorkflowStore
      const executor = yield* Executor
      const arrivals = yield* Arrivals
      const turns = yield* Turns
      const memory = new HistoryMemory()
      const active = new InFlightMap<RunId, ActiveWorkflow>()
      let isStopping = false

      const write = (entry: Advanced): Effect.Effect<boolean> =>
        Effect.retry(journal.write(entry), { schedule: writeRetry, while: () => !isStopping }).pipe(
          Effect.catchTag("StoreUnavailable", (error) => Effect.as(logOutage(error), false))
        )

      /** Reads the history of a run that continues. */
      const load = (claim: Claim) =>
        claim.delivery.continues === null
          ? Effect.succeed(newRun)
          : Effect.andThen(nextTurn(turns, claim.run.env_id, "durable"), store.load(claim.run))

      /** Returns the end of an activation whose guest has ended. */
      const conclude = Effect.fnUntraced(function* (
        claim: Claim,
        history: History,
        activation: Activation,
        exit: Exit.Exit<Executed, ExecuteError>
      ): Effect.fn.Return<ActivationEnd> {
        const { suspension, cleanupUntil } = activation
        if (suspension !== null) return withLogs(suspension, yield* executor.logged(claim.run))
        const now = yield* currentTime
        if (Exit.isFailure(exit)) {
          const logs = yield* executor.logged(claim.run)
          if (cleanupUntil !== null && cleanupUntil <= now) return ended(cleanupOver, logs)
          if (isGone(exit.cause)) return ended(conclusion(buildGone, cleanupUntil), logs)
          if (!Cause.hasInterruptsOnly(exit.cause))
            yield* Effect.logWarning("A durable run continues after", exit.cause)
          return yield* suspendFor(claim, unavailableDelayMs, activation, logs)
        }
        const { execution, logs } = exit.value
        const { outcome } = execution
        if (isContinued(outcome, claim.delivery.timeout_ms)) return yield* suspendFor(claim, 0, activation, logs)
        const next = afterStall({ outcome, activation, history, now })
        if (next._tag === "Paused") return yield* suspendFor(claim, next.delayMs, activation, logs, next.wait)
        const trailing = activation.trailing(now)
        // The end of the run releases its delivery, which this entry needs.
        if (trailing !== null) yield* write(trailing)
        const executed = { logs, execution: { ...execution, outcome: conclusion(next.outcome, cleanupUntil) } }
        return { _tag: "Ended", executed }
      })

      /** Returns the event of a wait whose timeout has ended; null if none was stored in time. */
      const expire = (run: Run) => (wait: WaitRecord) => {
        const { event_type, since, seq } = wait
        if (event_type === null) return Effect.succeed(null)
        const settled = Effect.andThen(arrivals.settle({ env_id: run.env_id, event_type, since }), store.arrived(run))
        return Effect.retry(settled, { schedule: writeRetry, while: () => !isStopping }).pipe(
          Effect.map((waits) => waits.find((stored) => stored.seq === seq)?.outcome ?? null),
          // The node shuts down, so the run continues elsewhere.
          Effect.catchTag("StoreUnavailable", () => Effect.never)
        )
      }

      /** Executes the function until it ends or its activation stops it. `onStart` receives a function that stops it. */
      const execute = (claim: Claim, onStart: (stop: () => void) => void) => {
        const { run } = claim
        const running: ActiveWorkflow = { run, activation: null, hasMissedEvents: false }
        active.set(run.run_id, running)
        const end = Effect.sync(() => {
          // After an outage, this node may have claimed the run again before this activation ends.
          if (active.get(run.run_id) === running) active.delete(run.run_id)
        })
        const activated = memory.use(
          run.env_id,
          load(claim),
          ({ history }) => history,
          (loaded) => activate({ claim, loaded, running, onStart, onEnd: end })
        )
        return Effect.ensuring(activated, end)
      }

      const activate = Effect.fnUntraced(function* ({ claim, loaded, running, onStart, onEnd }: ActivationStart) {
        const { run, event, delivery } = claim
        const { history, logs, cleanup_until: cleanupUntil } = loaded
        const deadline = addMillis(run.start_time, delivery.timeout_ms)
        const now = yield* currentTime
        const remainingMs = Math.min(deadline, cleanupUntil ?? deadline) - now
        if (cleanupUntil !== null && remainingMs <= 0) return ended(cleanupOver, logs)
        if (remainingMs <= 0) return ended({ _tag: "TimedOut", limitMs: delivery.timeout_ms }, logs)
        let stop = () => {}
        const limits = defaultWorkflowLimits
        const onStored = (waits: ReadonlyArray<WaitRecord>) =>
          Effect.forEach(waits, ({ event_type, since }) =>
            event_type === null ? Effect.void : arrivals.awaits({ env_id: run.env_id, event_type, since })
          )
        const activation = new Activation({
          ...{ claim, history, deadline, cleanupUntil, limits, write, onStored, expire: expire(run) },
          stop: () => stop()
        })
        running.activation = activation
        if (running.hasMissedEvents) yield* receive(run.run_id)
        const work = {
          ...{ run, depth: delivery.depth, ...buildTrigger(event), body: null, caller: null, preface: logs },
          ...{ timeoutMs: Math.min(remainingMs, activationMaxMs), queueTimeoutMs: 0 },
          durable: {
            fact: formatDurableFact(history, run.start_time, cleanupUntil !== null),
            replay: history.steps.map(formatResult),
            answer: (call) => activation.answer(call)
          }
        } satisfies Parameters<typeof executor.start>[0]
        const context = yield* Effect.context<never>()
        const exit = yield* Effect.callback<Exit.Exit<Executed, ExecuteError>>((resume) => {
          stop = executor.start(work)(context, (end) => resume(Effect.succeed(end)))
          onStart(stop)
        })
        yield* onEnd
        return yield* conclude(claim, history, activation, exit)
      })

      /** Gives events to a run that is active on this node, after they have arrived in the store. */
      const receive = (runId: RunId) => {
        const found = active.get(runId)
        const activation = found?.activation
        if (found === undefined) return Effect.void
        if (activation === null || activation === undefined) {
          found.hasMissedEvents = true
          return Effect.void
        }
        return Effect.flatMap(store.arrived(found.run), (waits) => activation.receive(waits)).pipe(
          Effect.catchTag("StoreUnavailable", logOutage)
        )
      }
      /** Begins the cleanups that were requested of active runs. */
      const beginCleanups = (found: ReadonlyArray<{ readonly run: Run }>) =>
        Effect.gen(function* () {
          if (found.length === 0) return
          const cleanups = yield* store.cleanups(found.map(({ run }) => run))
          for (const { run_id, until } of cleanups) yield* active.get(run_id)?.activation?.cancel(until) ?? Effect.void
        }).pipe(Effect.catchTag("StoreUnavailable", logOutage))

      const receiveAll = Effect.suspend(() =>
        Effect.andThen(
          Effect.forEach(active.values(), ({ run }) => receive(run.run_id), { discard: true }),
          beginCleanups(active.values())
        )
      )
      yield* subscribe((message) => {
        if (message.type === "workflows:arrived") return Effect.forEach(message.run_ids, receive, { discard: true })
        if (message.type !== "workflows:cancelled") return Effect.void
        return beginCleanups(message.run_ids.flatMap((runId) => active.get(runId) ?? []))
      }, receiveAll)
      // A request may precede the activation that it is for, or its message may be lost.
      const checkCleanups = Effect.andThen(
        Effect.sleep(cleanupCheckMs),
        Effect.suspend(() => beginCleanups(active.values()))
      )
      yield* forkSupervised({ name: "The check for requested cleanups", afterFailure: Effect.void }, checkCleanups)

      return Workflows.of({
        start: (claim) => (context, done) => {
          let isInterrupted = false
          let stop = () => {}
          const onStart = (stopGuest: () => void) => {
            stop = stopGuest
            if (isInterrupted) stop()
          }
          const activated = Effect.catchCause(execute(claim, onStart), (cause) =>
            Effect.andThen(
              Effect.logError("The activation of a durable run failed", cause),
              suspendFor(claim, unavailableDelayMs, null, [])
            )
          )
          Effect.runForkWith(context)(activated).addObserver(done)
          return () => {
            isInterrupted = true
            stop()
          }
        },

        afterRejection: Effect.fnUntraced(function* (claim, logs) {
          if (!claim.delivery.durable || (yield* store.cleanups([claim.run])).length === 0) return null
          const end = yield* suspendFor(claim, 0, null, logs)
          return end.entry
        }),

        stopRetries: () => {
          isStopping = true
        }
      })
    })
  )
}

/** The parts of an activation that begins. `onStart` receives a function that stops it. */
interface ActivationStart {
  readonly claim: Claim
  readonly loaded: LoadedRun
  readonly running: ActiveWorkflow
  readonly onStart: (stop: () => void) => void
  readonly onEnd: Effect.Effect<void>
}

/** A durable run that is active on this node. */
interface ActiveWorkflow {
  readonly run: Run
  /** Null while its history is read. */
  activation: Activation | null
  /** True if events arrived while its history was read. */
  hasMissedEvents: boolean
}

const ended = (outcome: Outcome, logs: ReadonlyArray<LogEntry>): ActivationEnd => ({
  _tag: "Ended",
  executed: { execution: { outcome, usage: { cpu_ms: 0, wall_ms: 0, heap_bytes: 0 } }, logs }
})

const newRun: LoadedRun = { history: emptyHistory, logs: [], cleanup_until: null }

const buildGone: Outcome = { _tag: "BuildGone" }

const isGone = ({ reasons }: Cause.Cause<ExecuteError>): boolean =>
  reasons.some((reason) => reason._tag === "Fail" && reason.error._tag === "NotFound")

/** True if the activation, and not the run, has reached its maximum duration. */
const isContinued = (outcome: Outcome, timeoutMs: number): boolean =>
  outcome._tag === "TimedOut" && outcome.limitMs === activationMaxMs && timeoutMs > activationMaxMs

/** Suspends a run that could not be executed. */
const suspendFor = (
  { run, delivery }: Claim,
  delayMs: number,
  activation: Activation | null,
  logs: ReadonlyArray<LogEntry>,
  stall: WaitRecord | null = null
): Effect.Effect<SuspendedActivation> =>
  Effect.map(currentTime, (at) => {
    const cleanup_until = activation?.cleanupUntil ?? null
    const due_at = addMillis(at, Math.min(delayMs, Math.max(0, (cleanup_until ?? Number.POSITIVE_INFINITY) - at)))
    const waiting: Waiting = { for: "node", name: "", since: at, until: due_at }
    const trailing = activation?.trailing(at) ?? null
    const { steps, waits } = trailing ?? { steps: [], waits: [] }
    const suspension = { due_at, waiting: formatWaiting(waiting), cleanup_until, logs }
    const { delivery_id: deliveryId } = delivery
    const allWaits = stall === null ? waits : [...waits, stall]
    return {
      _tag: "Suspended",
      entry: { _tag: "Advanced", run, deliveryId, at, steps, waits: allWaits, suspension }
    }
  })

const withLogs = (entry: Advanced, logs: ReadonlyArray<LogEntry>): ActivationEnd => ({
  _tag: "Suspended",
  entry: { ...entry, suspension: entry.suspension === null ? null : { ...entry.suspension, logs } }
})
