const units = ["B", "kB", "MB", "GB", "TB"]

/** Formats a number of bytes in powers of 1000: `512 B`, `1.5 kB`, `20 MB`. */
export const bytes = (count: number): string => {
  let value = count
  let unit = 0
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  const shown = unit === 0 || value >= 99.5 ? Math.round(value).toString() : value.toFixed(1).replace(/\.0$/, "")
  return `${shown} ${units[unit]}`
}
