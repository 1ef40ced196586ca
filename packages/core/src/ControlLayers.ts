/** Layers of the services that control runs and deliveries. A part of `Weft.ts`. */
import { Layer } from "effect"
import * as BuildContents from "./resources/builds/BuildContents.ts"
import * as AlertEvaluator from "./runtime/control/AlertEvaluator.ts"
import { AlertNotifier } from "./runtime/control/AlertNotifier.ts"
import { Alerts } from "./runtime/control/Alerts.ts"
import { BuildRuns } from "./runtime/control/BuildRuns.ts"
import { Calls } from "./runtime/control/Calls.ts"
import { Canaries } from "./runtime/control/Canaries.ts"
import { CanaryEnds } from "./runtime/control/CanaryEnds.ts"
import * as CanaryJudge from "./runtime/control/CanaryJudge.ts"
import * as ChildCancellations from "./runtime/control/ChildCancellations.ts"
import { DeadLetters } from "./runtime/control/DeadLetters.ts"
import { Deliveries } from "./runtime/control/Deliveries.ts"
import { Diagnosis } from "./runtime/control/Diagnosis.ts"
import { Nodes } from "./runtime/control/Nodes.ts"
import { OperationRunner } from "./runtime/control/OperationRunner.ts"
import { Operations } from "./runtime/control/Operations.ts"
import { Pauses } from "./runtime/control/Pauses.ts"
import * as PreviewRemovals from "./runtime/control/PreviewRemovals.ts"
import * as ProjectRemovals from "./runtime/control/ProjectRemovals.ts"
import { Recordings } from "./runtime/control/Recordings.ts"
import { RunControl } from "./runtime/control/RunControl.ts"
import { RunStatistics } from "./runtime/control/RunStatistics.ts"
import { Runs } from "./runtime/control/Runs.ts"
import { Tokens } from "./runtime/control/Tokens.ts"
import { Waits } from "./runtime/control/Waits.ts"
import * as DeliveryMetrics from "./runtime/dispatch/DeliveryMetrics.ts"
import { PauseReleases } from "./runtime/dispatch/PauseReleases.ts"
import type { SlotsConfig } from "./runtime/dispatch/Slots.ts"
import * as LeaseKeeper from "./runtime/execution/LeaseKeeper.ts"
import * as LogFlusher from "./runtime/execution/LogFlusher.ts"

/** The services of `controlLayer` for hosts and for the HTTP layer. */
export type ControlServices =
  | Runs
  | Recordings
  | RunControl
  | Operations
  | Tokens
  | Deliveries
  | DeadLetters
  | Waits
  | Pauses
  | RunStatistics
  | Alerts
  | Canaries
  | Calls
  | BuildRuns
  | Diagnosis

/** Services that control runs and deliveries. */
export const controlLayer = Layer.mergeAll(
  Runs.layer,
  Recordings.layer,
  RunStatistics.layer,
  RunControl.layer,
  Layer.provide(Operations.layer, OperationRunner.layer),
  Tokens.layer,
  Deliveries.layer,
  DeadLetters.layer,
  Waits.layer,
  Pauses.layer,
  Layer.provide(Layer.merge(Alerts.layer, AlertEvaluator.layer), AlertNotifier.layer),
  Canaries.layer,
  CanaryJudge.layer,
  ProjectRemovals.layer,
  Layer.provide(PreviewRemovals.layer, BuildContents.layer),
  ChildCancellations.layer,
  Calls.layer,
  BuildRuns.layer,
  Diagnosis.layer,
  LogFlusher.layer,
  LeaseKeeper.layer
).pipe(Layer.provide(Layer.merge(PauseReleases.layer, CanaryEnds.layer)))

/** The load of this node, as a metric and in the list of nodes. */
export const loadLayer = (deliveries: SlotsConfig) =>
  Layer.mergeAll(DeliveryMetrics.layer(deliveries), Nodes.layer(deliveries))
