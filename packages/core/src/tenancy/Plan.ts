/** Plans as data (decisions section 4). A host may replace the table. */
import { Schema } from "effect"

export const PlanName = Schema.Literals(["Free", "Starter", "Pro", "Scale", "Enterprise", "Self-Host"])
export type PlanName = typeof PlanName.Type
