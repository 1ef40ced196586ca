/** All contracts of stores, for a database that only one process uses. */
import {
  admissionStoreContract,
  apiKeyStoreContract,
  buildStoreContract,
  contextVariableStoreContract,
  domainStoreContract,
  eventStoreContract,
  fileStoreContract,
  journalStoreContract,
  projectStoreContract,
  rateStoreContract,
  runControlStoreContract,
  runStoreContract,
  scheduleStoreContract,
  sealedStoreContract,
  serviceKeyStoreContract,
  sessionStoreContract,
  streamStoreContract,
  tenantStoreContract,
  usageStoreContract
} from "@weft/contract"
import type { SqliteStores } from "@weft/sqlite"
import type { Layer } from "effect"

export const contracts = <E>(name: string, layer: Layer.Layer<SqliteStores, E>): void => {
  tenantStoreContract(name, layer)
  apiKeyStoreContract(name, layer)
  sessionStoreContract(name, layer)
  serviceKeyStoreContract(name, layer)
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
  journalStoreContract(name, layer, { exclusive: true })
  admissionStoreContract(name, layer)
}
