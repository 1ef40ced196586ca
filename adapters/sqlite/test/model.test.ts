import { journalStoreModel } from "@weft/contract"
import { stores } from "@weft/sqlite"
import { freshFile } from "./Fresh.ts"

journalStoreModel("SQLite in memory", stores({ file: ":memory:" }), { exclusive: true, histories: 100 })
journalStoreModel("SQLite in a file", freshFile, { exclusive: true, histories: 5 })
