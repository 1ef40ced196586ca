/**
 * How much of events one claim reads: a node holds all of it at once, and an event may have 4 MiB.
 *
 * Small ones are read with their deliveries. Large ones are read as far as they fit; the others are left for the next
 * claim.
 */

/** Up to so many bytes of its data an event is small: as many of them as one claim takes are no burden. */
export const smallDataBytes = 32 * 1024

/** Of large ones in one claim, in bytes. One always fits. */
const largeDataBytesMax = 8 * 1024 * 1024

/** The rows, in their order, without those whose large events do not fit any more. */
export const withinClaim = <Row>(rows: ReadonlyArray<Row>, dataBytesOf: (row: Row) => number): ReadonlyArray<Row> => {
  let large = 0
  return rows.filter((row) => {
    const bytes = dataBytesOf(row)
    if (bytes <= smallDataBytes) return true
    if (large > 0 && large + bytes > largeDataBytesMax) return false
    large += bytes
    return true
  })
}
