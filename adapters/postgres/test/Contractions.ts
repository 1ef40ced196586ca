/**
 * What the steps since the last release take away or newly ask of rows: each with the release that stopped using it,
 * which is the last one at the latest, because its nodes run beside those of the next.
 *
 * Emptied whenever another release is kept (`npm run keep-previous`).
 */
import type { Contraction } from "./Shape.ts"

export const contractions: ReadonlyArray<Contraction> = []
