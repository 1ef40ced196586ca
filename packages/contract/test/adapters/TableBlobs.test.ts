import { blobStoreContract, blobStoreModel } from "@weft/contract"
import { tableBlobs } from "./TableBlobs.ts"

const layer = tableBlobs({ file: ":memory:" })

blobStoreContract("a table", layer)
blobStoreModel("a table", layer, 30)
