import { auditTransactionContract } from "@weft/contract"
import { stores } from "@weft/sqlite"

auditTransactionContract("SQLite", stores({ file: ":memory:" }))
