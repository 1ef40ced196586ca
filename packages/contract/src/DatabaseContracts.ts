/** All contracts of the stores of a database. An adapter runs them with one call. */
import type { Stores } from "@weft/core/adapter"
import type { Layer } from "effect"
import { admissionStoreContract } from "./AdmissionStoreContract.ts"
import { alertStoreContract } from "./AlertStoreContract.ts"
import { apiKeyStoreContract } from "./ApiKeyStoreContract.ts"
import { auditStoreContract } from "./AuditStoreContract.ts"
import { buildStoreContract } from "./BuildStoreContract.ts"
import { canaryStoreContract } from "./CanaryStoreContract.ts"
import { concurrencyContract } from "./ConcurrencyContract.ts"
import { contextVariableStoreContract } from "./ContextVariableStoreContract.ts"
import { deadLetterStoreContract } from "./DeadLetterStoreContract.ts"
import { deliveryStoreContract } from "./DeliveryStoreContract.ts"
import { domainStoreContract } from "./DomainStoreContract.ts"
import { eventStoreContract } from "./EventStoreContract.ts"
import { fileStoreContract } from "./FileStoreContract.ts"
import { flowContract } from "./FlowContract.ts"
import { journalStoreContract } from "./JournalStoreContract.ts"
import { operationStoreContract } from "./OperationStoreContract.ts"
import { pauseStoreContract } from "./PauseStoreContract.ts"
import { previewStoreContract } from "./PreviewStoreContract.ts"
import { projectStoreContract } from "./ProjectStoreContract.ts"
import { rateStoreContract } from "./RateStoreContract.ts"
import { recordingStoreContract } from "./RecordingStoreContract.ts"
import { runControlStoreContract } from "./RunControlStoreContract.ts"
import { runStoreContract } from "./RunStoreContract.ts"
import { scheduleStoreContract } from "./ScheduleStoreContract.ts"
import { scrubStoreContract } from "./ScrubStoreContract.ts"
import { sealedStoreContract } from "./SealedStoreContract.ts"
import { seriesStoreContract } from "./SeriesStoreContract.ts"
import { serviceKeyStoreContract } from "./ServiceKeyStoreContract.ts"
import { sessionStoreContract } from "./SessionStoreContract.ts"
import { streamStoreContract } from "./StreamStoreContract.ts"
import { tenantStoreContract } from "./TenantStoreContract.ts"
import { usageStoreContract } from "./UsageStoreContract.ts"
import { workflowStoreContract } from "./WorkflowStoreContract.ts"

/** Registers the tests. `exclusive` is true if only one node at a time can use the database, so leases are not needed. */
export const databaseContracts = <E>(
  name: string,
  layer: Layer.Layer<Stores, E>,
  options: { readonly exclusive: boolean }
): void => {
  tenantStoreContract(name, layer)
  apiKeyStoreContract(name, layer)
  sessionStoreContract(name, layer)
  serviceKeyStoreContract(name, layer)
  auditStoreContract(name, layer)
  projectStoreContract(name, layer)
  previewStoreContract(name, layer)
  buildStoreContract(name, layer)
  canaryStoreContract(name, layer)
  contextVariableStoreContract(name, layer)
  scheduleStoreContract(name, layer)
  sealedStoreContract(name, layer)
  fileStoreContract(name, layer)
  scrubStoreContract(name, layer)
  domainStoreContract(name, layer)
  eventStoreContract(name, layer)
  runStoreContract(name, layer)
  runControlStoreContract(name, layer)
  streamStoreContract(name, layer)
  usageStoreContract(name, layer)
  rateStoreContract(name, layer)
  journalStoreContract(name, layer, options)
  workflowStoreContract(name, layer)
  admissionStoreContract(name, layer)
  flowContract(name, layer)
  deliveryStoreContract(name, layer, options)
  deadLetterStoreContract(name, layer)
  pauseStoreContract(name, layer)
  operationStoreContract(name, layer)
  seriesStoreContract(name, layer)
  alertStoreContract(name, layer)
  recordingStoreContract(name, layer)
  concurrencyContract(name, layer)
}
