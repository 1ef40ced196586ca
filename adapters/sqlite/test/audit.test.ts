import { auditTransactionContract } from "@weft/contract"
import { database } from "@weft/sqlite"

auditTransactionContract("SQLite", database({ file: ":memory:" }))
