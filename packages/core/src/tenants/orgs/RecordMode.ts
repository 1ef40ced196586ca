/** The record of a run that a client waits for: of a webhook or a tool call. */
import { Schema } from "effect"

/**
 * Modes from the strongest to the weakest.
 *
 * - `before`: the run is stored before its response
 * - `after`: the response comes first, and the run is stored within a second
 * - `failures`: as `after` for failed runs; all others are only counted
 * - `none`: runs are only counted
 */
export const RecordMode = Schema.Literals(["before", "after", "failures", "none"])
export type RecordMode = typeof RecordMode.Type

/** Returns the stronger of two modes. */
export const strongerRecord = (a: RecordMode, b: RecordMode): RecordMode => (rank[a] < rank[b] ? a : b)

const rank = { before: 0, after: 1, failures: 2, none: 3 } as const satisfies Record<RecordMode, number>
