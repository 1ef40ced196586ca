import { databaseContracts } from "@weft/contract"
import { stores } from "@weft/sqlite"

databaseContracts("SQLite in memory", stores({ file: ":memory:" }), { exclusive: true })
