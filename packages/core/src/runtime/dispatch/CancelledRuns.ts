/** Effects of a cancellation after its commit: the nodes stop the code, and others may start. */
import { Effect } from "effect"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import type { ControlMessage } from "../../platform/cluster/ControlMessage.ts"
import { ActiveRuns } from "../execution/ActiveRuns.ts"
import { NodeLease } from "../journal/NodeLease.ts"
import { SeriesRecorder } from "../journal/SeriesRecorder.ts"
import { latestActivity } from "../runs/Activity.ts"
import type { Run } from "../runs/Run.ts"
import type { CancelledRun } from "../runs/RunControlStore.ts"
import type { ChildRef } from "../runs/WorkflowStore.ts"
import { ChildRuns } from "../workflows/ChildRuns.ts"
import { Claimer } from "./Claimer.ts"

/** Returns the messages to the nodes that execute cancelled runs. */
export const toStopMessages = (
  runs: ReadonlyArray<Run>
): ReadonlyArray<Extract<ControlMessage, { readonly type: "runs:cancelled" }>> =>
  [...Map.groupBy(runs, (run) => run.node_id)].map(([node_id, members]) => ({
    type: "runs:cancelled",
    node_id,
    run_ids: members.map((run) => run.run_id)
  }))

/** Returns a function that stops cancelled runs on their nodes, and publishes their ends. */
export const makeNotifyCancelled = Effect.gen(function* () {
  const activeRuns = yield* ActiveRuns
  const claimer = yield* Claimer
  const bus = yield* ClusterBus
  const childRuns = yield* ChildRuns
  const { nodeId } = yield* NodeLease
  const series = yield* SeriesRecorder

  const stop = (runs: ReadonlyArray<Run>) =>
    Effect.forEach(
      toStopMessages(runs),
      (message) =>
        message.node_id === nodeId ? Effect.sync(() => activeRuns.stop(message.run_ids)) : bus.sendControl([message]),
      { discard: true }
    )

  const unparkGroup = ({ run, group }: CancelledRun) => {
    if (group !== null) claimer.unparkLater({ env_id: run.env_id, key: group })
  }

  return Effect.fnUntraced(function* (cancelled: ReadonlyArray<CancelledRun>) {
    const runs = cancelled.map(({ run }) => run)
    for (const run of runs) series.countEnd(run)
    yield* stop(runs)
    for (const each of cancelled) unparkGroup(each)
    childRuns.ended(cancelled.flatMap(({ run }) => toChild(run)))
    childRuns.abandon(
      cancelled.flatMap(({ run, children }) => children.map((event_id) => ({ env_id: run.env_id, event_id })))
    )
    yield* bus.publish(runs.map(latestActivity))
  })
})

/** Returns a run that another one may wait for as a child. */
const toChild = ({ env_id, event_id, run_type, origin_run_id }: Run): ReadonlyArray<ChildRef> =>
  run_type === "call" && event_id !== null && origin_run_id !== null ? [{ env_id, event_id }] : []
