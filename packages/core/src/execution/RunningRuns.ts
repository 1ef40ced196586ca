/**
 * What runs on this node, so that it can be stopped and looked at while it does.
 *
 * Stopping comes after the store knows: a run that is cancelled there can write nothing any more, so it does not
 * matter whether news of it is late. Where the news is lost, a look at the store ends what went on in vain.
 */
import { Context, Effect, type Exit, Latch, Layer } from "effect"
import { listen } from "../activity/Listener.ts"
import { forkLasting, logOutage } from "../errors/Lasting.ts"
import type { RunId } from "../ids/Ids.ts"
import { NodeLease } from "../journal/NodeLease.ts"
import { Roster } from "../runs/Roster.ts"
import type { LogEntry, Run } from "../runs/Run.ts"
import { RunControlStore } from "../runs/RunControlStore.ts"

/** What a run has logged so far, and the secrets that are not to be seen in it. */
export interface Logged {
  readonly logs: ReadonlyArray<LogEntry>
  readonly secrets: ReadonlySet<string>
}

export interface AtWork {
  readonly run: Run
  readonly logged: Logged
}

interface Work extends AtWork {
  /** Ends the work, whatever it has come to. */
  readonly stop: () => void
}

/** Cancelled runs that have not begun here; of more than that the oldest are forgotten. */
const strikesMax = 10_000

/** Between looks at the store, and how long a run goes on before the first. */
const everyMs = 30_000

export class RunningRuns extends Context.Service<
  RunningRuns,
  {
    /**
     * Does the work of a run in a fiber of its own, which can be stopped without whoever waits for it. `done` is told what
     * it came to; null when it was stopped, whatever that is. Gives how to interrupt it. Every run comes by here.
     */
    readonly begin: <A, E>(
      work: AtWork & { readonly effect: Effect.Effect<A, E> },
      context: Context.Context<never>,
      done: (exit: Exit.Exit<A, E> | null) => void
    ) => () => void
    /** Stops those of the runs that are at work here, and those that are about to begin. */
    readonly stop: (runIds: ReadonlyArray<RunId>) => void
    /** What a run that is at work here has logged. */
    readonly logged: (runId: RunId) => Logged | undefined
    /** All that is at work here, once there is something. */
    readonly atWork: Effect.Effect<ReadonlyArray<AtWork>>
  }
>()("@weft/core/runs/RunningRuns") {
  static readonly layer = Layer.effect(
    RunningRuns,
    Effect.gen(function* () {
      const store = yield* RunControlStore
      const { nodeId } = yield* NodeLease
      const busy = Latch.makeUnsafe(false)
      const atWork = new Roster<RunId, Work>()
      const strikes = new Set<RunId>()

      const strike = (runId: RunId) => {
        strikes.add(runId)
        const [oldest] = strikes
        if (strikes.size > strikesMax && oldest !== undefined) strikes.delete(oldest)
      }

      const stop = (runIds: ReadonlyArray<RunId>) => {
        for (const runId of runIds) {
          const work = atWork.get(runId)
          if (work === undefined) strike(runId)
          else work.stop()
        }
      }

      /** Stops those of the runs that the store knows to be over. */
      const stopEnded = (which: (runId: RunId) => boolean) =>
        Effect.gen(function* () {
          const runs = atWork.values().flatMap(({ run }) => (which(run.run_id) ? [run] : []))
          if (runs.length > 0) stop((yield* store.ended(runs)).filter((runId) => atWork.get(runId) !== undefined))
        }).pipe(Effect.catchTag("StoreUnavailable", logOutage))

      const stopStray = Effect.gen(function* () {
        yield* Effect.sleep(everyMs)
        const before = new Set(atWork.values().map(({ run }) => run.run_id))
        yield* Effect.sleep(everyMs)
        yield* stopEnded((runId) => before.has(runId))
      })
      yield* forkLasting({ name: "The search for runs that are over", afterFailure: Effect.void }, stopStray)

      yield* listen(
        (message) =>
          message.type === "runs:cancelled" && message.node_id === nodeId
            ? Effect.sync(() => stop(message.run_ids))
            : Effect.void,
        stopEnded(() => true)
      )

      return RunningRuns.of({
        begin: ({ run, logged, effect }, context, done) => {
          if (strikes.delete(run.run_id)) {
            done(null)
            return () => undefined
          }
          const fiber = Effect.runForkWith(context)(effect)
          let isStopped = false
          const stop = () => {
            isStopped = true
            fiber.interruptUnsafe()
          }
          atWork.set(run.run_id, { run, logged, stop })
          if (atWork.size === 1) busy.openUnsafe()
          fiber.addObserver((exit) => {
            atWork.delete(run.run_id)
            done(isStopped ? null : exit)
          })
          return () => fiber.interruptUnsafe()
        },
        stop,
        logged: (runId) => atWork.get(runId)?.logged,
        atWork: Effect.gen(function* () {
          if (atWork.size === 0) busy.closeUnsafe()
          yield* busy.await
          return atWork.values()
        })
      })
    })
  )
}
