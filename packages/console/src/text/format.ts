/** Formats of numbers, durations, sizes and instants in the language of the person. */
import { language, locale } from "./Language.ts"

const formats = new Map<string, Intl.NumberFormat | Intl.DateTimeFormat>()

const number = (options: Intl.NumberFormatOptions): Intl.NumberFormat => {
  const key = `n ${language()} ${JSON.stringify(options)}`
  const known = formats.get(key)
  if (known instanceof Intl.NumberFormat) return known
  const made = new Intl.NumberFormat(locale(), options)
  formats.set(key, made)
  return made
}

const dateTime = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat => {
  const key = `d ${language()} ${JSON.stringify(options)}`
  const known = formats.get(key)
  if (known instanceof Intl.DateTimeFormat) return known
  const made = new Intl.DateTimeFormat(locale(), { hourCycle: "h23", ...options })
  formats.set(key, made)
  return made
}

export const formatCount = (count: number): string => number({ maximumFractionDigits: 0 }).format(count)

export const formatPercent = (share: number): string =>
  number({ style: "percent", maximumFractionDigits: share > 0.99 && share < 1 ? 2 : 1 }).format(share)

export const formatRatio = (ratio: number): string => number({ maximumFractionDigits: 2 }).format(ratio)

/** Formats milliseconds with the unit that gives one to three digits. */
export const formatDuration = (ms: number): string => {
  if (ms < 1000) return `${number({ maximumFractionDigits: ms < 10 ? 1 : 0 }).format(ms)} ms`
  const seconds = ms / 1000
  if (seconds < 60) return `${number({ maximumFractionDigits: seconds < 10 ? 2 : 1 }).format(seconds)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return joined(`${minutes} min`, Math.floor(seconds % 60), "s")
  const hours = Math.floor(minutes / 60)
  return hours < 24 ? joined(`${hours} h`, minutes % 60, "min") : joined(`${Math.floor(hours / 24)} d`, hours % 24, "h")
}

const joined = (first: string, rest: number, unit: string): string => (rest === 0 ? first : `${first} ${rest} ${unit}`)

export const formatBytes = (bytes: number): string => {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"]
  const exponent = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** exponent
  return `${number({ maximumFractionDigits: value < 10 && exponent > 0 ? 1 : 0 }).format(value)} ${units[exponent]}`
}

/** Formats an instant in the time zone of the person, to the second. */
export const formatInstant = (iso: string): string =>
  dateTime({ dateStyle: "medium", timeStyle: "medium" }).format(new Date(iso))

/** Formats a day with its weekday, without the year. */
export const formatDay = (date: Date): string =>
  dateTime({ weekday: "short", day: "numeric", month: "short" }).format(date)

export const formatTime = (iso: string | number): string =>
  dateTime({ hour: "2-digit", minute: "2-digit" }).format(new Date(iso))

/** Formats an instant to the millisecond, without its date. */
export const formatPreciseTime = (iso: string): string =>
  dateTime({ hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 }).format(new Date(iso))
