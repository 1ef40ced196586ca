import { journalStoreModel } from "@weft/contract"
import { database } from "@weft/sqlite"
import { freshFile } from "./Fresh.ts"

journalStoreModel("SQLite in memory", database({ file: ":memory:" }), { exclusive: true, histories: 100 })
journalStoreModel("SQLite in a file", freshFile, { exclusive: true, histories: 5 })
