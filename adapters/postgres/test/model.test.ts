import { journalStoreModel } from "@weft/contract"
import { fresh } from "./Fresh.ts"

journalStoreModel("PostgreSQL", fresh, { exclusive: false, histories: 5 })
