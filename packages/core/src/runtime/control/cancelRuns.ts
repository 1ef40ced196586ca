/** Cancels running runs: first in the store, then on their nodes. */
import { Effect } from "effect"
import type { EnvId } from "../../foundation/Ids.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { Claimer } from "../dispatch/Claimer.ts"
import { ActiveRuns } from "../execution/ActiveRuns.ts"
import { NodeLease } from "../journal/NodeLease.ts"
import { UnconfirmedWrites } from "../journal/UnconfirmedWrites.ts"
import { latestActivity } from "../runs/Activity.ts"
import type { Run } from "../runs/Run.ts"
import { type CancelledRun, RunControlStore, type RunSelection } from "../runs/RunControlStore.ts"
import type { ChildRef } from "../runs/WorkflowStore.ts"
import { ChildRuns } from "../workflows/ChildRuns.ts"

/** Maximum runs per transaction. */
const batch = 200

/** Returns a function that cancels up to one batch of runs. */
export const makeCancelBatch = Effect.gen(function* () {
  const store = yield* RunControlStore
  const unconfirmed = yield* UnconfirmedWrites
  const activeRuns = yield* ActiveRuns
  const claimer = yield* Claimer
  const bus = yield* ClusterBus
  const childRuns = yield* ChildRuns
  const { nodeId } = yield* NodeLease

  const stop = (runs: ReadonlyArray<Run>) =>
    Effect.forEach(
      Map.groupBy(runs, (run) => run.node_id),
      ([node_id, members]) => {
        const run_ids = members.map((run) => run.run_id)
        if (node_id !== nodeId) return bus.sendControl([{ type: "runs:cancelled", node_id, run_ids }])
        return Effect.sync(() => activeRuns.stop(run_ids))
      },
      { discard: true }
    )

  const unparkGroup = ({ run, group }: CancelledRun) => {
    if (group !== null) claimer.unparkLater({ env_id: run.env_id, key: group })
  }

  return Effect.fnUntraced(function* (envId: EnvId, which: RunSelection) {
    const cancelled = yield* unconfirmed.track(store.cancel(envId, which, yield* currentTime, batch))
    const runs = cancelled.map(({ run }) => run)
    yield* stop(runs)
    for (const each of cancelled) unparkGroup(each)
    childRuns.ended(cancelled.flatMap(({ run }) => toChild(run)))
    childRuns.abandon(
      cancelled.flatMap(({ run, children }) => children.map((event_id) => ({ env_id: run.env_id, event_id })))
    )
    yield* bus.publish(runs.map(latestActivity))
    return runs
  }, Effect.uninterruptible)
})

/** Returns a run that another one may wait for as a child. */
const toChild = ({ env_id, event_id, run_type, origin_run_id }: Run): ReadonlyArray<ChildRef> =>
  run_type === "call" && event_id !== null && origin_run_id !== null ? [{ env_id, event_id }] : []
