import { rateNodesContract, rateStoreContract } from "@weft/contract"
import { rateNodes, rates } from "./Rates.ts"

rateStoreContract("SQL", rates)
rateNodesContract("SQL", rateNodes)
