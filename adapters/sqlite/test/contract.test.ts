import {
  apiKeyStoreContract,
  buildStoreContract,
  eventStoreContract,
  journalStoreContract,
  projectStoreContract,
  runStoreContract,
  tenantStoreContract
} from "@weft/contract"
import { stores } from "@weft/sqlite"
import { freshFile } from "./Fresh.ts"

for (const [name, layer] of [
  ["SQLite in memory", stores({ file: ":memory:" })],
  ["SQLite in a file", freshFile]
] as const) {
  tenantStoreContract(name, layer)
  apiKeyStoreContract(name, layer)
  projectStoreContract(name, layer)
  buildStoreContract(name, layer)
  eventStoreContract(name, layer)
  runStoreContract(name, layer)
  journalStoreContract(name, layer, { exclusive: true })
}
