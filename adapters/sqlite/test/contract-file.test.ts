import { admissionStoreContract, databaseContracts, workflowStoreContract } from "@weft/contract"
import { freshFile, freshFileWithoutThread } from "./Fresh.ts"

databaseContracts("SQLite in a file", freshFileWithoutThread, { exclusive: true })
admissionStoreContract("SQLite in a file, with the journal's thread", freshFile)
workflowStoreContract("SQLite in a file, with the journal's thread", freshFile)
