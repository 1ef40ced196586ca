import {
  admissionStoreContract,
  apiKeyStoreContract,
  blobStoreContract,
  blobStoreModel,
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
import { MemoryStores } from "@weft/core"

const { layer } = MemoryStores

tenantStoreContract("memory", layer)
apiKeyStoreContract("memory", layer)
sessionStoreContract("memory", layer)
serviceKeyStoreContract("memory", layer)
projectStoreContract("memory", layer)
buildStoreContract("memory", layer)
contextVariableStoreContract("memory", layer)
scheduleStoreContract("memory", layer)
sealedStoreContract("memory", layer)
fileStoreContract("memory", layer)
domainStoreContract("memory", layer)
eventStoreContract("memory", layer)
runStoreContract("memory", layer)
runControlStoreContract("memory", layer)
streamStoreContract("memory", layer)
usageStoreContract("memory", layer)
rateStoreContract("memory", layer)
journalStoreContract("memory", layer, { exclusive: false })
admissionStoreContract("memory", layer)
blobStoreContract("memory", layer)
blobStoreModel("memory", layer, 100)
