/** Contract of `WorkflowStore` and `WorkflowTokenStore` together with the journal of the same database. Adapters run this suite. */
import type { Layer } from "effect"
import { type Check, suite } from "./Check.ts"
import { arrivalBatchChecks } from "./WorkflowArrivalBatchChecks.ts"
import { arrivalChecks } from "./WorkflowArrivalChecks.ts"
import { childChecks } from "./WorkflowChildChecks.ts"
import { cleanupChecks } from "./WorkflowCleanupChecks.ts"
import { historyChecks } from "./WorkflowHistoryChecks.ts"
import { loadChecks } from "./WorkflowLoadChecks.ts"
import { readChecks } from "./WorkflowReadChecks.ts"
import type { WorkflowStores } from "./WorkflowSamples.ts"
import { suspensionChecks } from "./WorkflowSuspensionChecks.ts"
import { tokenChecks } from "./WorkflowTokenChecks.ts"
import { wakeChecks } from "./WorkflowWakeChecks.ts"

export const workflowStoreContract = <E>(adapter: string, layer: Layer.Layer<WorkflowStores, E>) =>
  suite(`WorkflowStore contract: ${adapter}`, workflowStoreChecks, layer)

export const workflowStoreChecks: ReadonlyArray<Check<WorkflowStores>> = [
  ...historyChecks,
  ...suspensionChecks,
  ...loadChecks,
  ...arrivalChecks,
  ...arrivalBatchChecks,
  ...cleanupChecks,
  ...childChecks,
  ...readChecks,
  ...wakeChecks,
  ...tokenChecks
]
