import { contracts } from "./Contracts.ts"
import { freshFile } from "./Fresh.ts"

contracts("SQLite in a file", freshFile)
