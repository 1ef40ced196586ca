import { auditTransactionContract } from "@weft/contract"
import { fresh } from "./Fresh.ts"

auditTransactionContract("PostgreSQL", fresh)
