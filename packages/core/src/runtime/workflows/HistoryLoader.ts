/**
 * Reads the histories of runs that continue, those of an environment in batches. Most are small, and of many runs that
 * continue at the same time each would otherwise cost three statements.
 */
import { Deferred, Effect, Exit } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { EnvId, RunId } from "../../foundation/Ids.ts"
import type { RunRef } from "../runs/RunControlStore.ts"
import type { LoadedRun, WorkflowStore } from "../runs/WorkflowStore.ts"

/** Maximum runs of a batch. To parse their histories takes one turn. */
const runsMax = 32

/** Maximum batches of an environment at the same time. */
const batchesMax = 2

type Answer = Deferred.Deferred<LoadedRun | null, StoreUnavailable>

interface EnvQueue {
  readonly runs: Map<RunId, Answer>
  batches: number
}

export interface HistoryLoaderOptions {
  readonly store: Pick<WorkflowStore["Service"], "loadSmall">
  /** Waits for the turn of the environment. */
  readonly turn: (envId: EnvId) => Effect.Effect<void>
}

export class HistoryLoader {
  readonly #options: HistoryLoaderOptions
  readonly #envs = new Map<EnvId, EnvQueue>()

  constructor(options: HistoryLoaderOptions) {
    this.#options = options
  }

  /** Returns a run; null if it is large, so that it has to be read alone. */
  small({ env_id, run_id }: RunRef): Effect.Effect<LoadedRun | null, StoreUnavailable> {
    return Effect.gen({ self: this }, function* () {
      const queue = this.#queueOf(env_id)
      const answer = queue.runs.get(run_id) ?? Deferred.makeUnsafe<LoadedRun | null, StoreUnavailable>()
      queue.runs.set(run_id, answer)
      if (queue.batches < batchesMax) {
        queue.batches++
        yield* Effect.forkDetach(this.#drain(env_id, queue))
      }
      return yield* Deferred.await(answer)
    })
  }

  #queueOf(envId: EnvId): EnvQueue {
    const known = this.#envs.get(envId)
    if (known !== undefined) return known
    const queue: EnvQueue = { runs: new Map(), batches: 0 }
    this.#envs.set(envId, queue)
    return queue
  }

  #drain(envId: EnvId, queue: EnvQueue): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      while (queue.runs.size > 0) {
        // Runs that were claimed together come in one batch.
        yield* this.#options.turn(envId)
        yield* Effect.yieldNow
        const batch = [...queue.runs].slice(0, runsMax)
        for (const [runId] of batch) queue.runs.delete(runId)
        if (batch.length > 0) yield* this.#answer(envId, batch)
      }
      if (--queue.batches === 0) this.#envs.delete(envId)
    })
  }

  #answer(envId: EnvId, batch: ReadonlyArray<readonly [RunId, Answer]>): Effect.Effect<void> {
    const loaded = this.#options.store.loadSmall(
      envId,
      batch.map(([runId]) => runId)
    )
    return Effect.onExit(loaded, (exit) =>
      Effect.forEach(
        batch,
        ([runId, answer]) =>
          Deferred.done(
            answer,
            Exit.map(exit, (runs) => runs.get(runId) ?? null)
          ),
        { discard: true }
      )
    ).pipe(Effect.exit, Effect.asVoid)
  }
}
