import { stores } from "@weft/sqlite"
import { contracts } from "./Contracts.ts"

contracts("SQLite in memory", stores({ file: ":memory:" }))
