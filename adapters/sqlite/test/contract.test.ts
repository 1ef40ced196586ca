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
import { stores } from "@weft/sqlite"
import { freshFile } from "./Fresh.ts"

for (const [name, layer] of [
  ["SQLite in memory", stores({ file: ":memory:" })],
  ["SQLite in a file", freshFile]
] as const) {
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
