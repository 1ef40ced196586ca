import {
  apiKeyStoreContract,
  blobStoreContract,
  blobStoreModel,
  buildStoreContract,
  eventStoreContract,
  journalStoreContract,
  projectStoreContract,
  runStoreContract,
  tenantStoreContract
} from "@weft/contract"
import { MemoryStores } from "@weft/core"

const { layer } = MemoryStores

tenantStoreContract("memory", layer)
apiKeyStoreContract("memory", layer)
projectStoreContract("memory", layer)
buildStoreContract("memory", layer)
eventStoreContract("memory", layer)
runStoreContract("memory", layer)
journalStoreContract("memory", layer, { exclusive: false })
blobStoreContract("memory", layer)
blobStoreModel("memory", layer, 100)
