/** Rows of the table `events`. */
import { Event } from "@weft/core/adapter"
import { deriveColumns } from "./Columns.ts"
import { makeRow } from "./Row.ts"

export const eventRow = makeRow(deriveColumns(Event.fields))
