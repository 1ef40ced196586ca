import { databaseContracts } from "@weft/contract"
import { fresh } from "./Fresh.ts"

databaseContracts("PostgreSQL", fresh, { exclusive: false })
