/**
 * Bounds the event data that one claim reads, because a node holds all of it at once and an event may have 4 MiB.
 *
 * Small events are always read with their deliveries. Large events are read while they fit into a budget; the others are
 * left for the next claim.
 */

/** Maximum data of a small event, in bytes. A full claim of small events needs little memory. */
export const smallDataBytes = 32 * 1024

/** Maximum data of all large events in one claim, in bytes. One event always fits. */
const largeDataBytesMax = 8 * 1024 * 1024

/** Returns the rows, in their order, without those whose large events exceed the budget. */
export const takeWithinBudget = <Row>(
  rows: ReadonlyArray<Row>,
  readDataBytes: (row: Row) => number
): ReadonlyArray<Row> => {
  let large = 0
  return rows.filter((row) => {
    const bytes = readDataBytes(row)
    if (bytes <= smallDataBytes) return true
    if (large > 0 && large + bytes > largeDataBytesMax) return false
    large += bytes
    return true
  })
}
