/**
 * Ends the work of removed projects: cancels their running runs, discards their pending deliveries, and removes the
 * recordings of their runs.
 *
 * From the commit of the removal on, claims discard the project's deliveries, so nothing of it starts from the store.
 * Every node may work on every removal, in bounded transactions, so a removal survives the death of its node. Nodes with
 * an outdated snapshot of deployments, and long transactions of hosts, may still publish for the project. Therefore a
 * removal is complete only after the settling time, and its record remains longer.
 */
import { Clock, Effect, Latch, Layer } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { ProjectId } from "../../foundation/Ids.ts"
import { forkSupervised } from "../../foundation/Supervised.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import { subscribe } from "../../platform/cluster/subscribe.ts"
import { ProjectStore } from "../../resources/projects/ProjectStore.ts"
import type { RemovedProject } from "../../resources/projects/RemovedProject.ts"
import { StorePoller } from "../journal/StorePoller.ts"
import { RecordingStore } from "../runs/RecordingStore.ts"
import { makeCancelBatch } from "./cancelRuns.ts"
import { makeDiscardPass } from "./discardDeliveries.ts"

/** Time after a removal in which work for the project may still arrive, in milliseconds. */
const settlingMs = 600_000

/** Time after a removal in which its runs are cancelled at the short interval, in milliseconds. */
const recentMs = 60_000

/** Interval of passes with recent removals, in milliseconds. Otherwise a poll of the store starts them. */
const recentEveryMs = 2_000

/** Retention of the record of a complete removal, in milliseconds: 1 day. */
const retentionMs = 86_400_000

/** Maximum recordings per transaction. */
const recordingsPerDelete = 100

/** Maximum removals per query. */
const page = 100

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const projects = yield* ProjectStore
    const { end, retain } = yield* makeEnd
    const poller = yield* StorePoller
    const wake = Latch.makeUnsafe(false)

    yield* subscribe(
      (message) => (message.type === "deployments:changed" ? wake.open : Effect.void),
      Effect.asVoid(wake.open)
    )

    // Without records of removals, this node sends nothing to the store.
    yield* poller.onPoll(({ removals }) => {
      if (removals) wake.openUnsafe()
    })

    /** Works on all open removals. Returns true if some of them are recent. */
    const pass = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const open = new Set<ProjectId>()
      let hasRecent = false
      let after: ProjectId | null = null
      do {
        const removals: ReadonlyArray<RemovedProject> = yield* projects.removals(after, page)
        for (const removal of removals) {
          open.add(removal.project_id)
          yield* end(removal, now)
          if (now - removal.removed_at < recentMs) hasRecent = true
        }
        after = removals.length < page ? null : (removals.at(-1)?.project_id ?? null)
      } while (after !== null)
      retain(open)
      yield* projects.forgetRemovals(Timestamp.make(Math.max(0, now - retentionMs)))
      return hasRecent
    })

    yield* forkSupervised(
      { name: "The removal of projects" },
      Effect.gen(function* () {
        wake.closeUnsafe()
        const hasRecent = yield* pass
        if (hasRecent) yield* Effect.timeoutOption(wake.await, recentEveryMs)
        else yield* wake.await
      })
    )
  })
)

/** Returns functions that end the runs and deliveries of removed projects. */
const makeEnd = Effect.gen(function* () {
  const projects = yield* ProjectStore
  const cancelBatch = yield* makeCancelBatch
  const recordings = yield* RecordingStore
  const discard = yield* makeDiscardPass
  /** Removals whose deliveries this node has discarded once. */
  const discardedOnce = new Set<ProjectId>()

  const end = Effect.fnUntraced(function* (
    { project_id, env_id, removed_at }: RemovedProject,
    now: number
  ): Effect.fn.Return<void, StoreUnavailable> {
    const isSettled = now - removed_at >= settlingMs
    while ((yield* cancelBatch(env_id, { projectId: project_id })).length > 0);
    if (!isSettled && discardedOnce.has(project_id)) return
    yield* discard(env_id, { projectId: project_id })
    while ((yield* recordings.removeProject(env_id, project_id, recordingsPerDelete)) > 0);
    if (isSettled) yield* projects.markSwept(project_id)
    else discardedOnce.add(project_id)
  })

  return {
    end,
    /** Forgets all removals except these. */
    retain: (open: ReadonlySet<ProjectId>) => {
      for (const id of discardedOnce) if (!open.has(id)) discardedOnce.delete(id)
    }
  }
})
