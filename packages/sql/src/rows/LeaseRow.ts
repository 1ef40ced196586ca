/** Row of the table `leases`. */
import { makeRow } from "./Row.ts"

export const leaseRow = makeRow({ node_id: "text", until: "integer" })
