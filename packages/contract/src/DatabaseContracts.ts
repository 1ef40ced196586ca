/** All contracts of the stores of one database. An adapter runs them with one call. */
import type { Stores } from "@weft/core"
import type { Layer } from "effect"
import { admissionStoreContract } from "./AdmissionStoreContract.ts"
import { apiKeyStoreContract } from "./ApiKeyStoreContract.ts"
import { atOnceContract } from "./AtOnceContract.ts"
import { auditStoreContract } from "./AuditStoreContract.ts"
import { buildStoreContract } from "./BuildStoreContract.ts"
import { contextVariableStoreContract } from "./ContextVariableStoreContract.ts"
import { domainStoreContract } from "./DomainStoreContract.ts"
import { eventStoreContract } from "./EventStoreContract.ts"
import { fileStoreContract } from "./FileStoreContract.ts"
import { journalStoreContract } from "./JournalStoreContract.ts"
import { projectStoreContract } from "./ProjectStoreContract.ts"
import { rateStoreContract } from "./RateStoreContract.ts"
import { runControlStoreContract } from "./RunControlStoreContract.ts"
import { runStoreContract } from "./RunStoreContract.ts"
import { scheduleStoreContract } from "./ScheduleStoreContract.ts"
import { sealedStoreContract } from "./SealedStoreContract.ts"
import { serviceKeyStoreContract } from "./ServiceKeyStoreContract.ts"
import { sessionStoreContract } from "./SessionStoreContract.ts"
import { streamStoreContract } from "./StreamStoreContract.ts"
import { tenantStoreContract } from "./TenantStoreContract.ts"
import { usageStoreContract } from "./UsageStoreContract.ts"

/** `exclusive`: only one node at a time can be using the database, so that leases mean nothing. */
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
  buildStoreContract(name, layer)
  contextVariableStoreContract(name, layer)
  scheduleStoreContract(name, layer)
  sealedStoreContract(name, layer)
  fileStoreContract(name, layer)
  domainStoreContract(name, layer)
  eventStoreContract(name, layer)
  runStoreContract(name, layer)
  runControlStoreContract(name, layer)
  streamStoreContract(name, layer)
  usageStoreContract(name, layer)
  rateStoreContract(name, layer)
  journalStoreContract(name, layer, options)
  admissionStoreContract(name, layer)
  atOnceContract(name, layer)
}
