/** Text for instants and durations. */

const two = (value: number): string => String(value).padStart(2, "0")

/** Formats an instant of the API in the local time zone: `2026-01-31 12:00:00`. */
export const localTime = (instant: string): string => {
  const at = new Date(instant)
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock(at)}`
}

/** Formats the local time of day with milliseconds. */
export const clockTime = (instant: string): string => {
  const at = new Date(instant)
  return `${clock(at)}.${String(at.getMilliseconds()).padStart(3, "0")}`
}

const clock = (at: Date): string => `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`

/** Formats milliseconds: `12 ms`, `1.20 s`, `3 min 20 s`, `2 h 5 min`. */
export const duration = (millis: number): string => {
  if (millis < 1000) return `${Math.round(millis)} ms`
  if (millis < 60_000) return `${(millis / 1000).toFixed(2)} s`
  const seconds = Math.round(millis / 1000)
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  const minutes = Math.round(seconds / 60)
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Formats the duration of a run; empty while it is running. */
export const formatRunDuration = (run: { readonly start_time: string; readonly stop_time: string | null }): string =>
  run.stop_time === null ? "" : duration(Date.parse(run.stop_time) - Date.parse(run.start_time))
