/** The SQL journal with leases, as on a database that several nodes share. In production, SQLite does not need them. */
import { journalStoreContract } from "@weft/contract"
import { journalStore, recordStores } from "@weft/sql"
import { Layer } from "effect"
import { sharedDatabase } from "./Shared.ts"

journalStoreContract("SQL with leases", Layer.merge(recordStores, journalStore).pipe(Layer.provide(sharedDatabase)), {
  exclusive: false
})
