/**
 * The runs that are executing on this node, so that they can be stopped and their logs read.
 *
 * A run is first cancelled in the store, where it can then write nothing more. So the control message that stops its code
 * may be late. If the message is lost, a periodic query of the store stops the run.
 */
import { Context, Effect, type Exit, Latch, Layer } from "effect"
import type { RunId } from "../../foundation/Ids.ts"
import { InFlightMap } from "../../foundation/InFlightMap.ts"
import { forkSupervised, logOutage } from "../../foundation/Supervised.ts"
import { subscribe } from "../../platform/cluster/subscribe.ts"
import { NodeLease } from "../journal/NodeLease.ts"
import type { LogEntry, Run } from "../runs/Run.ts"
import { RunControlStore } from "../runs/RunControlStore.ts"

/** Log of an active run so far, and the secrets that must be masked in it. */
export interface RunLogBuffer {
  readonly logs: ReadonlyArray<LogEntry>
  readonly secrets: ReadonlySet<string>
}

export interface ActiveRun {
  readonly run: Run
  readonly logged: RunLogBuffer
}

interface StoppableRun extends ActiveRun {
  /** Interrupts the execution. */
  readonly stop: () => void
}

/** Maximum cancelled runs to remember that have not begun here. The oldest are dropped. */
const cancelledBeforeStartMax = 10_000

/** Interval of queries for ended runs, and minimum age of a run for them, in milliseconds. */
const checkIntervalMs = 30_000

export class ActiveRuns extends Context.Service<
  ActiveRuns,
  {
    /**
     * Executes a run in a fiber of its own, which can be stopped without its caller. `done` receives the exit, or null if
     * the run was stopped. Returns a function that interrupts the execution. Every run is executed here.
     */
    readonly begin: <A, E>(
      work: ActiveRun & { readonly effect: Effect.Effect<A, E> },
      context: Context.Context<never>,
      done: (exit: Exit.Exit<A, E> | null) => void
    ) => () => void
    /** Stops those of the runs that are active here, and those that begin later. */
    readonly stop: (runIds: ReadonlyArray<RunId>) => void
    /** Returns the log of a run that is active here. */
    readonly logged: (runId: RunId) => RunLogBuffer | undefined
    /** Waits for an active run and returns all active runs. */
    readonly activeRuns: Effect.Effect<ReadonlyArray<ActiveRun>>
  }
>()("@weft/core/runtime/execution/ActiveRuns") {
  static readonly layer = Layer.effect(
    ActiveRuns,
    Effect.gen(function* () {
      const store = yield* RunControlStore
      const { nodeId } = yield* NodeLease
      const hasActive = Latch.makeUnsafe(false)
      const active = new InFlightMap<RunId, StoppableRun>()
      const cancelledBeforeStart = new Set<RunId>()

      const cancelBeforeStart = (runId: RunId) => {
        cancelledBeforeStart.add(runId)
        const [oldest] = cancelledBeforeStart
        if (cancelledBeforeStart.size > cancelledBeforeStartMax && oldest !== undefined)
          cancelledBeforeStart.delete(oldest)
      }

      const stop = (runIds: ReadonlyArray<RunId>) => {
        for (const runId of runIds) {
          const work = active.get(runId)
          if (work === undefined) cancelBeforeStart(runId)
          else work.stop()
        }
      }

      /** Stops the selected runs that have ended in the store. */
      const stopEnded = (isSelected: (runId: RunId) => boolean) =>
        Effect.gen(function* () {
          const runs = active.values().flatMap(({ run }) => (isSelected(run.run_id) ? [run] : []))
          if (runs.length > 0) stop((yield* store.ended(runs)).filter((runId) => active.get(runId) !== undefined))
        }).pipe(Effect.catchTag("StoreUnavailable", logOutage))

      const stopOverlooked = Effect.gen(function* () {
        yield* Effect.sleep(checkIntervalMs)
        const before = new Set(active.values().map(({ run }) => run.run_id))
        yield* Effect.sleep(checkIntervalMs)
        yield* stopEnded((runId) => before.has(runId))
      })
      yield* forkSupervised(
        { name: "The check for runs that ended elsewhere", afterFailure: Effect.void },
        stopOverlooked
      )

      yield* subscribe(
        (message) =>
          message.type === "runs:cancelled" && message.node_id === nodeId
            ? Effect.sync(() => stop(message.run_ids))
            : Effect.void,
        stopEnded(() => true)
      )

      return ActiveRuns.of({
        begin: ({ run, logged, effect }, context, done) => {
          if (cancelledBeforeStart.delete(run.run_id)) {
            done(null)
            return () => undefined
          }
          const fiber = Effect.runForkWith(context)(effect)
          let isStopped = false
          const stop = () => {
            isStopped = true
            fiber.interruptUnsafe()
          }
          const work: StoppableRun = { run, logged, stop }
          active.set(run.run_id, work)
          if (active.size === 1) hasActive.openUnsafe()
          fiber.addObserver((exit) => {
            // A durable run may continue before its previous activation has ended.
            if (active.get(run.run_id) === work) active.delete(run.run_id)
            done(isStopped ? null : exit)
          })
          return () => fiber.interruptUnsafe()
        },
        stop,
        logged: (runId) => active.get(runId)?.logged,
        activeRuns: Effect.gen(function* () {
          if (active.size === 0) hasActive.closeUnsafe()
          yield* hasActive.await
          return active.values()
        })
      })
    })
  )
}
