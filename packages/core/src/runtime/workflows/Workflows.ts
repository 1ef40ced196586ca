/** Executes durable runs: each claim of one is an activation. */
import { Cause, Context, Effect, Exit, Layer, Schedule } from "effect"
import type { RunId } from "../../foundation/Ids.ts"
import { InFlightMap } from "../../foundation/InFlightMap.ts"
import { logOutage } from "../../foundation/Supervised.ts"
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
import { WorkflowStore } from "../runs/WorkflowStore.ts"
import { Activation, type Advanced } from "./Activation.ts"
import { Arrivals } from "./Arrivals.ts"
import { HistoryMemory } from "./HistoryMemory.ts"
import { defaultWorkflowLimits } from "./HistorySize.ts"
import { formatDurableFact, formatResult } from "./Replay.ts"

/** The end of an activation. */
export type ActivationEnd =
  /** The run has ended. */
  | { readonly _tag: "Ended"; readonly executed: Executed }
  /** The run is to be suspended by this entry. */
  | { readonly _tag: "Suspended"; readonly entry: Advanced }

/** Maximum duration of an activation in milliseconds. A run beyond it continues in another one. */
const activationMaxMs = 3_600_000

/** Pause in milliseconds before a run continues whose activation failed through no fault of its code. */
const unavailableDelayMs = 1_000

/** Pause in milliseconds between checks if the quarantine of a build has ended. */
const quarantineDelayMs = 60_000

const writeRetry = Schedule.min([Schedule.exponential("50 millis"), Schedule.spaced("2 seconds")])

export class Workflows extends Context.Service<
  Workflows,
  {
    /**
     * Executes an activation of a claimed durable run. If the run cannot be executed now, or is interrupted, it ends with
     * `Suspended`.
     */
    readonly start: (claim: Claim) => CallbackTask<ActivationEnd, never>
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
      const active = new InFlightMap<RunId, { readonly run: Run; readonly activation: Activation }>()
      let isStopping = false

      const write = (entry: Advanced): Effect.Effect<boolean> =>
        Effect.retry(journal.write(entry), { schedule: writeRetry, while: () => !isStopping }).pipe(
          Effect.catchTag("StoreUnavailable", (error) => Effect.as(logOutage(error), false))
        )

      /** Reads the history of a run that continues. */
      const load = (claim: Claim) =>
        claim.delivery.continues === null
          ? Effect.succeed({ history: emptyHistory, logs: [] })
          : Effect.andThen(nextTurn(turns, claim.run.env_id, "durable"), store.load(claim.run))

      /** Executes an activation with the memory for its history. */
      const execute = (claim: Claim, onStart: (stop: () => void) => void) =>
        memory.use(
          claim.run.env_id,
          load(claim),
          ({ history }) => history,
          (loaded) => activate(claim, loaded, onStart)
        )

      /** Returns the end of an activation whose guest has ended. */
      const conclude = Effect.fnUntraced(function* (
        claim: Claim,
        activation: Activation,
        exit: Exit.Exit<Executed, ExecuteError>
      ): Effect.fn.Return<ActivationEnd> {
        const { suspension } = activation
        if (suspension !== null) return withLogs(suspension, yield* executor.logged(claim.run))
        if (Exit.isFailure(exit)) {
          if (isGone(exit.cause)) return ended(buildGone, yield* executor.logged(claim.run))
          if (!Cause.hasInterruptsOnly(exit.cause))
            yield* Effect.logWarning("A durable run continues after", exit.cause)
          return yield* suspendFor(claim, unavailableDelayMs, activation, yield* executor.logged(claim.run))
        }
        const { execution, logs } = exit.value
        const delayMs = continuesAfter(execution.outcome, claim.delivery.timeout_ms)
        if (delayMs !== null) return yield* suspendFor(claim, delayMs, activation, logs)
        const trailing = activation.trailing(yield* currentTime)
        // The end of the run releases its delivery, which this entry needs.
        if (trailing !== null) yield* write(trailing)
        return { _tag: "Ended", executed: exit.value }
      })

      /** Executes the function until it ends or its activation stops it. `onStart` receives a function that stops it. */
      const activate = Effect.fnUntraced(function* (
        claim: Claim,
        { history, logs }: LoadedHistory,
        onStart: (stop: () => void) => void
      ) {
        const { run, event, delivery } = claim
        const deadline = addMillis(run.start_time, delivery.timeout_ms)
        const remainingMs = deadline - (yield* currentTime)
        if (remainingMs <= 0) return ended({ _tag: "TimedOut", limitMs: delivery.timeout_ms }, logs)
        let stop = () => {}
        const limits = defaultWorkflowLimits
        const onStored = (waits: ReadonlyArray<WaitRecord>) =>
          Effect.forEach(waits, ({ event_type, since }) =>
            event_type === null ? Effect.void : arrivals.awaits({ env_id: run.env_id, event_type, since })
          )
        const activation = new Activation({ claim, history, deadline, limits, write, onStored, stop: () => stop() })
        active.set(run.run_id, { run, activation })
        const work = {
          ...{ run, depth: delivery.depth, ...buildTrigger(event), body: null, caller: null, preface: logs },
          ...{ timeoutMs: Math.min(remainingMs, activationMaxMs), queueTimeoutMs: 0 },
          durable: {
            fact: formatDurableFact(history, run.start_time),
            replay: history.steps.map(formatResult),
            answer: (call) => activation.answer(call)
          }
        } satisfies Parameters<typeof executor.start>[0]
        const context = yield* Effect.context<never>()
        const exit = yield* Effect.callback<Exit.Exit<Executed, ExecuteError>>((resume) => {
          stop = executor.start(work)(context, (end) => resume(Effect.succeed(end)))
          onStart(stop)
        })
        active.delete(run.run_id)
        return yield* conclude(claim, activation, exit)
      })

      /** Gives events to a run that is active on this node, after they have arrived in the store. */
      const receive = (runId: RunId) => {
        const found = active.get(runId)
        return found === undefined
          ? Effect.void
          : Effect.flatMap(store.arrived(found.run), (waits) => found.activation.receive(waits)).pipe(
              Effect.catchTag("StoreUnavailable", logOutage)
            )
      }
      const receiveAll = Effect.suspend(() =>
        Effect.forEach(active.values(), ({ run }) => receive(run.run_id), { discard: true })
      )
      yield* subscribe(
        (message) =>
          message.type === "workflows:arrived"
            ? Effect.forEach(message.run_ids, receive, { discard: true })
            : Effect.void,
        receiveAll
      )

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

        stopRetries: () => {
          isStopping = true
        }
      })
    })
  )
}

interface LoadedHistory {
  readonly history: History
  readonly logs: ReadonlyArray<LogEntry>
}

const ended = (outcome: Outcome, logs: ReadonlyArray<LogEntry>): ActivationEnd => ({
  _tag: "Ended",
  executed: { execution: { outcome, usage: { cpu_ms: 0, wall_ms: 0, heap_bytes: 0 } }, logs }
})

const buildGone: Outcome = { _tag: "BuildGone" }

const isGone = ({ reasons }: Cause.Cause<ExecuteError>): boolean =>
  reasons.some((reason) => reason._tag === "Fail" && reason.error._tag === "NotFound")

/**
 * Returns the pause before the run continues, in milliseconds; null if the outcome ends it. A run that ends its runner
 * repeatedly puts its build under quarantine, so it does not continue forever.
 */
const continuesAfter = (outcome: Outcome, timeoutMs: number): number | null => {
  if (outcome._tag === "TimedOut") return outcome.limitMs === activationMaxMs && timeoutMs > activationMaxMs ? 0 : null
  if (outcome._tag === "RunnerLost") return unavailableDelayMs
  return outcome._tag === "Quarantined" ? quarantineDelayMs : null
}

/** Suspends a run that could not be executed. */
const suspendFor = (
  { run, delivery }: Claim,
  delayMs: number,
  activation: Activation | null,
  logs: ReadonlyArray<LogEntry>
): Effect.Effect<ActivationEnd> =>
  Effect.map(currentTime, (at) => {
    const due_at = addMillis(at, delayMs)
    const waiting: Waiting = { for: "node", name: "", since: at, until: due_at }
    const trailing = activation?.trailing(at) ?? null
    const { steps, waits } = trailing ?? { steps: [], waits: [] }
    const suspension = { due_at, waiting: formatWaiting(waiting), logs }
    const { delivery_id } = delivery
    return {
      _tag: "Suspended",
      entry: { _tag: "Advanced", run, deliveryId: delivery_id, at, steps, waits, suspension }
    }
  })

const withLogs = (entry: Advanced, logs: ReadonlyArray<LogEntry>): ActivationEnd => ({
  _tag: "Suspended",
  entry: { ...entry, suspension: entry.suspension === null ? null : { ...entry.suspension, logs } }
})
