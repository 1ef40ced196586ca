import { blobStoreContract, blobStoreModel, databaseContracts } from "@weft/contract"
import { MemoryStores } from "@weft/core/testing"

const { layer } = MemoryStores

databaseContracts("memory", layer, { exclusive: false })
blobStoreContract("memory", layer)
blobStoreModel("memory", layer, 100)
