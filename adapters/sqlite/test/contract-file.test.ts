import { admissionStoreContract } from "@weft/contract"
import { contracts } from "./Contracts.ts"
import { freshFile, freshFileWithoutThread } from "./Fresh.ts"

contracts("SQLite in a file", freshFileWithoutThread)
admissionStoreContract("SQLite in a file, by the journal's thread", freshFile)
