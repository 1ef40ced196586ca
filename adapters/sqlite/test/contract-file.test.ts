import { admissionStoreContract, databaseContracts } from "@weft/contract"
import { freshFile, freshFileWithoutThread } from "./Fresh.ts"

databaseContracts("SQLite in a file", freshFileWithoutThread, { exclusive: true })
admissionStoreContract("SQLite in a file, by the journal's thread", freshFile)
