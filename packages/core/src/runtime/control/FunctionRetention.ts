/** Removes the runs, with their recordings, of functions that keep them for a shorter time than their plan. */
import { Clock, Effect } from "effect"
import { type EnvId, leastIdAt, type ProjectId, RunId } from "../../foundation/Ids.ts"
import { BuildStore, type ProjectRetention } from "../../resources/builds/BuildStore.ts"
import { JournalStore, type PurgedFunction } from "../journal/JournalStore.ts"
import { RecordingStore } from "../runs/RecordingStore.ts"

/** Maximum projects per query. */
const pageSize = 100

interface Batches {
  /** Maximum runs per transaction. */
  readonly batch: number
  /** Waits between transactions. */
  readonly pause: Effect.Effect<void>
}

/**
 * Returns an effect that removes these runs and returns their number. Its argument has the least run ids that environments
 * keep by their plans: a function cannot keep runs for longer. The active build of a project decides.
 */
export const makeFunctionRetention = ({ batch, pause }: Batches) =>
  Effect.gen(function* () {
    const builds = yield* BuildStore
    const journal = yield* JournalStore
    const recordings = yield* RecordingStore

    const removeOf = Effect.fnUntraced(function* (envId: EnvId, of: PurgedFunction, before: RunId) {
      let count = 0
      while ((yield* recordings.purge(envId, before, batch, of)) > 0) yield* pause
      while (true) {
        const removed = yield* journal.purge(envId, before, batch, of)
        if (removed === 0) return count
        count += removed
        yield* pause
      }
    })

    return Effect.fnUntraced(function* (kept: ReadonlyMap<EnvId, RunId>) {
      const now = yield* Clock.currentTimeMillis
      let count = 0
      let after: ProjectId | null = null
      while (true) {
        const found: ReadonlyArray<ProjectRetention> = yield* builds.retentions(after, pageSize)
        for (const { env_id, project_id, functions } of found) {
          for (const { ns, var: name, retention_ms } of functions) {
            const before = leastIdAt(RunId, now - retention_ms)
            if (before <= (kept.get(env_id) ?? "")) continue
            count += yield* removeOf(env_id, { project_id, ns, var: name }, before)
          }
        }
        after = found.at(-1)?.project_id ?? null
        if (found.length < pageSize) return count
      }
    })
  })
