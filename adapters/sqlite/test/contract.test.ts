import { databaseContracts } from "@weft/contract"
import { database } from "@weft/sqlite"

databaseContracts("SQLite in memory", database({ file: ":memory:" }), { exclusive: true })
