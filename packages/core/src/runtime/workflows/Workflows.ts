/** Executes durable runs: each claim of one is an activation. */
import { Cause, Context, Effect, Exit, Layer, Schedule, type Schema } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import { type EnvId, EventId, freshIds } from "../../foundation/Ids.ts"
import { logOutage } from "../../foundation/Supervised.ts"
import { addMillis, now as currentTime } from "../../foundation/time/Timestamp.ts"
import type { Outcome } from "../../platform/sandbox/Outcome.ts"
import { hostCallRefused } from "../../platform/sandbox/Sandbox.ts"
import { nextTurn, Turns } from "../../platform/turns/Turns.ts"
import { Plans } from "../../tenants/orgs/Plans.ts"
import { Quotas } from "../../tenants/orgs/Quotas.ts"
import type { CallbackTask } from "../execution/CallbackTask.ts"
import { type Executed, type ExecuteError, Executor } from "../execution/Executor.ts"
import { Journal } from "../journal/Journal.ts"
import type { Claim } from "../journal/JournalStore.ts"
import type { LogEntry, Run } from "../runs/Run.ts"
import { buildTrigger } from "../runs/Trigger.ts"
import { emptyHistory, formatWaiting, type History, type Waiting, type WaitRecord } from "../runs/Workflow.ts"
import { type LoadedRun, WorkflowStore } from "../runs/WorkflowStore.ts"
import type { CallingRun } from "../svc/Operation.ts"
import { Activation } from "./Activation.ts"
import type { Advanced } from "./ActivationOptions.ts"
import { makeActiveWorkflows } from "./ActiveWorkflows.ts"
import { Arrivals } from "./Arrivals.ts"
import { cleanupOver, conclusion } from "./Cancellation.ts"
import { ChildRuns } from "./ChildRuns.ts"
import { type FunctionCall, makeDurableCalls } from "./DurableCalls.ts"
import { HistoryLoader } from "./HistoryLoader.ts"
import { HistoryMemory } from "./HistoryMemory.ts"
import { formatDurableFact, formatResult } from "./Replay.ts"
import { makeRunTokens, type RunTokens } from "./RunTokens.ts"
import { afterStall } from "./Stall.ts"
import { toWorkflowLimits } from "./WorkflowLimits.ts"

/** The end of an activation. */
export type ActivationEnd =
  /** The run has ended. `children` are events of child runs that it waited for. */
  | { readonly _tag: "Ended"; readonly executed: Executed; readonly children: ReadonlyArray<EventId> }
  /** The run continues as a new one with these arguments. */
  | {
      readonly _tag: "Renewed"
      readonly args: ReadonlyArray<Schema.Json>
      readonly logs: ReadonlyArray<LogEntry>
      readonly children: ReadonlyArray<EventId>
    }
  | SuspendedActivation

/** The run is to be suspended by this entry. */
interface SuspendedActivation {
  readonly _tag: "Suspended"
  readonly entry: Advanced
}

/** Maximum duration of an activation in milliseconds. A run beyond it continues in another one. */
const activationMaxMs = 3_600_000

/** Pause in milliseconds before a run continues whose activation failed through no fault of its code. */
const unavailableDelayMs = 1_000

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
    /**
     * Forgets the activation of a claim, whose end is stored. Returns true if the run is to continue at once, because
     * something arrived too late for its activation.
     */
    readonly release: (claim: Claim) => boolean
    /** Stops retries of writes, because the node shuts down. */
    readonly stopRetries: () => void
  }
>()("@weft/core/runtime/workflows/Workflows") {
  static readonly layer = Layer.effect(
    Workflows,
    Effect.gen(function* () {
      const journal = yield* Journal
      const store = yield* WorkflowStore
      const plans = yield* Plans
      const executor = yield* Executor
      const arrivals = yield* Arrivals
      const turns = yield* Turns
      const memory = new HistoryMemory()
      const active = yield* makeActiveWorkflows
      let isStopping = false
      const openTokens = yield* makeRunTokens(() => isStopping)
      const childRuns = yield* ChildRuns
      const calls = yield* makeDurableCalls(() => isStopping)
      const quotas = yield* Quotas
      const fresh = yield* freshIds

      const write = (entry: Advanced): Effect.Effect<boolean> =>
        Effect.retry(journal.write(entry), { schedule: writeRetry, while: () => !isStopping }).pipe(
          Effect.catchTag("StoreUnavailable", (error) => Effect.as(logOutage(error), false))
        )

      /** Waits while the store does not answer. */
      const whenAvailable = <A>(read: Effect.Effect<A, StoreUnavailable>) =>
        Effect.retry(read, { schedule: writeRetry, while: () => !isStopping })

      const turn = (envId: EnvId) => nextTurn(turns, envId, "durable")
      const loader = new HistoryLoader({ store, turn })

      /** Reads a run with a small history; null if it is large. */
      const loadSmall = ({ run, delivery }: Claim) =>
        delivery.continues === null ? Effect.succeed(newRun) : whenAvailable(loader.small(run))

      const loadLarge = ({ run }: Claim) => Effect.andThen(turn(run.env_id), whenAvailable(store.load(run)))

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
        const { renewal, children } = activation
        if (renewal !== null && cleanupUntil === null) {
          const trailing = activation.trailing(now)
          if (trailing !== null) yield* write(trailing)
          return { _tag: "Renewed", args: renewal, logs: yield* executor.logged(claim.run), children }
        }
        if (Exit.isFailure(exit)) {
          const logs = yield* executor.logged(claim.run)
          if (cleanupUntil !== null && cleanupUntil <= now) return ended(cleanupOver, logs, children)
          if (isGone(exit.cause)) return ended(conclusion(buildGone, cleanupUntil), logs, children)
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
        return { _tag: "Ended", executed, children }
      })

      /** Returns the outcome of a wait whose timeout has ended; null without one that was stored in time. */
      const expire = (run: Run, tokens: RunTokens) => (wait: WaitRecord) => {
        const { event_type, token_seq, seq } = wait
        if (token_seq !== null) {
          // Null: the node shuts down.
          return Effect.flatMap(tokens.expire(token_seq), (end) => (end === null ? Effect.never : Effect.succeed(end)))
        }
        if (event_type === null) return Effect.succeed(null)
        const settled = Effect.andThen(arrivals.settle({ ...wait, env_id: run.env_id, event_type }), store.arrived(run))
        return Effect.retry(settled, { schedule: writeRetry, while: () => !isStopping }).pipe(
          Effect.map((waits) => waits.find((stored) => stored.seq === seq)?.outcome ?? null),
          // The node shuts down, so the run continues elsewhere.
          Effect.catchTag("StoreUnavailable", () => Effect.never)
        )
      }

      /** Starts a child run. If its parent was cancelled in the meantime, the child is as well. */
      const startChild = Effect.fnUntraced(function* (calling: CallingRun, wait: WaitRecord, call: FunctionCall) {
        const refused = yield* calls.startChild(calling, wait, call)
        if (active.has(calling.run_id)) return refused
        const { history } = yield* Effect.orElseSucceed(store.load(calling), () => ({ history: null }))
        const event_id = wait.child_event_id
        const isAwaited = history?.waits.some(({ child_event_id }) => child_event_id === event_id) ?? true
        if (!isAwaited && event_id !== null) childRuns.abandon([{ env_id: calling.env_id, event_id }])
        return refused
      })

      /** Returns the requests of an activation that call functions. */
      const callOptions = ({ run, delivery }: Claim) => {
        const calling = { ...run, depth: delivery.depth }
        return {
          startChild: (wait: WaitRecord, call: FunctionCall) => startChild(calling, wait, call),
          abandonChild: (event_id: EventId) => childRuns.abandon([{ env_id: run.env_id, event_id }]),
          call: (seq: number, call: FunctionCall) => calls.call(calling, seq, call),
          freshEventId: fresh(EventId),
          admitRenewal: Effect.mapError(quotas.admit(run.env_id, 1), ({ _tag, message }) =>
            hostCallRefused(_tag, message)
          )
        }
      }

      /** Executes the function until it ends, or its activation or `guest` stops it. */
      const execute = (claim: Claim, guest: Guest) =>
        Effect.flatMap(loadSmall(claim), (small) =>
          memory.use(
            claim.run.env_id,
            small === null ? loadLarge(claim) : Effect.succeed(small),
            ({ history }) => history,
            (loaded) => activate(claim, guest, loaded)
          )
        )

      const activate = Effect.fnUntraced(function* (claim: Claim, guest: Guest, loaded: LoadedRun) {
        const { run, delivery } = claim
        const { history: stored, logs, cleanup_until: cleanupUntil } = loaded
        guest.logs = logs
        const tokens = yield* openTokens(claim, stored)
        const history = { ...stored, waits: stored.waits.map((wait) => tokens.withCompletion(wait)) }
        const deadline = addMillis(run.start_time, delivery.timeout_ms)
        const now = yield* currentTime
        const remainingMs = Math.min(deadline, cleanupUntil ?? deadline) - now
        if (remainingMs <= 0) {
          const children = history.waits.flatMap(({ child_event_id }) => child_event_id ?? [])
          const outcome: Outcome =
            cleanupUntil === null ? { _tag: "TimedOut", limitMs: delivery.timeout_ms } : cleanupOver
          return ended(outcome, logs, children)
        }
        const limits = toWorkflowLimits((yield* plans.of(run.env_id)).plan)
        const onStored = Effect.fnUntraced(function* (waits: ReadonlyArray<WaitRecord>) {
          for (const { event_type, since } of waits)
            if (event_type !== null) yield* arrivals.awaits({ env_id: run.env_id, event_type, since })
          yield* activation.receive(yield* tokens.completed(waits))
        })
        const activation = new Activation({
          ...{ claim, history, tokens, deadline, cleanupUntil, limits, write, onStored, expire: expire(run, tokens) },
          ...callOptions(claim),
          stop: () => guest.stop()
        })
        yield* active.begin(claim, activation)
        const work = {
          ...{ run, depth: delivery.depth, ...buildTrigger(claim), body: null, caller: null, preface: logs },
          ...{ timeoutMs: Math.min(remainingMs, activationMaxMs), queueTimeoutMs: 0, recording: delivery.recording },
          durable: {
            fact: formatDurableFact(run, history, cleanupUntil !== null),
            replay: history.steps.map((step) => formatResult(tokens.reveal(step))),
            secrets: tokens.secrets,
            onStart: (log) => activation.begin(log),
            answer: (call) => activation.answer(call)
          }
        } satisfies Parameters<typeof executor.start>[0]
        const context = yield* Effect.context<never>()
        // The run may belong to another activation by now, so that its steps must not run.
        if (guest.isStopped) return yield* suspendFor(claim, unavailableDelayMs, activation, logs)
        const exit = yield* Effect.callback<Exit.Exit<Executed, ExecuteError>>((resume) => {
          guest.begin(executor.start(work)(context, (end) => resume(Effect.succeed(end))))
        })
        return yield* conclude(claim, history, activation, exit)
      })

      return Workflows.of({
        start: (claim) => (context, done) => {
          const guest = new Guest()
          active.add(claim, guest.stop)
          const activated = Effect.catchCause(execute(claim, guest), (cause) => {
            // The node shuts down and has not read the log, so another node continues the run.
            if (isStopping && guest.logs === null) return Effect.interrupt
            return Effect.andThen(
              Effect.logError("The activation of a durable run failed", cause),
              suspendFor(claim, unavailableDelayMs, null, guest.logs ?? [])
            )
          })
          Effect.runForkWith(context)(activated).addObserver(done)
          return guest.stop
        },

        afterRejection: Effect.fnUntraced(function* (claim, logs) {
          if (!claim.delivery.durable || (yield* store.cleanups([claim.run])).length === 0) return null
          const end = yield* suspendFor(claim, 0, null, logs)
          return end.entry
        }),

        release: (claim) => active.remove(claim),

        stopRetries: () => {
          isStopping = true
        }
      })
    })
  )
}

/** The guest of an activation, which may be stopped before it begins. */
class Guest {
  isStopped = false
  /** Log of the earlier activations; null until it is read. */
  logs: ReadonlyArray<LogEntry> | null = null
  #stop = () => {}

  /** Sets the function that stops the guest. */
  begin(stop: () => void): void {
    this.#stop = stop
    if (this.isStopped) stop()
  }

  readonly stop = (): void => {
    this.isStopped = true
    this.#stop()
  }
}

const ended = (outcome: Outcome, logs: ReadonlyArray<LogEntry>, children: ReadonlyArray<EventId>): ActivationEnd => ({
  _tag: "Ended",
  children,
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
