/** A row of small bars. */

const bars = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

/**
 * Returns one character for each value, relative to the highest one; a space for 0. More values than `width` are added up
 * in groups of equal size.
 */
export const sparkline = (values: ReadonlyArray<number>, width: number): string => {
  const size = Math.max(1, Math.ceil(values.length / width))
  const sums = Array.from({ length: Math.ceil(values.length / size) }, (_, index) =>
    values.slice(index * size, (index + 1) * size).reduce((sum, value) => sum + value, 0)
  )
  const highest = Math.max(0, ...sums)
  return sums.map((sum) => (sum === 0 ? " " : (bars[Math.ceil((sum / highest) * bars.length) - 1] ?? " "))).join("")
}
