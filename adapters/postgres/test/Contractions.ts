/**
 * Columns, constraints and indexes that migrations since the last release remove or newly require. Each entry has the
 * release that stopped using them. It is the last one or an earlier one, because nodes of two adjacent releases run
 * together.
 *
 * Clear the list whenever a new release is stored as the previous one (`npm run keep-previous`).
 */
import type { Contraction } from "./Shape.ts"

export const contractions: ReadonlyArray<Contraction> = []
