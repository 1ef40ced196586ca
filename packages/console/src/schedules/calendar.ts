/** Ticks of schedules by day, in the time zone of the person. */
import type { UpcomingTicks } from "@weft/client"

export interface CalendarEntry {
  readonly schedule: UpcomingTicks
  /** Ticks of the day, ascending; at least one. */
  readonly ticks: ReadonlyArray<string>
}

export interface CalendarDay {
  readonly date: Date
  /** Schedules with ticks on this day, by their first tick. */
  readonly entries: ReadonlyArray<CalendarEntry>
}

/** Returns the days from today on. */
export const toCalendar = (
  schedules: ReadonlyArray<UpcomingTicks>,
  today: Date,
  days: number
): ReadonlyArray<CalendarDay> =>
  Array.from({ length: days }, (_, index) => {
    const start = new Date(today.getFullYear(), today.getMonth(), today.getDate() + index)
    const end = new Date(today.getFullYear(), today.getMonth(), today.getDate() + index + 1)
    const isOnDay = (tick: string) => Date.parse(tick) >= start.getTime() && Date.parse(tick) < end.getTime()
    const entries = schedules
      .map((schedule): CalendarEntry => ({ schedule, ticks: schedule.ticks.filter(isOnDay) }))
      .filter(({ ticks }) => ticks.length > 0)
      .sort((a, b) => Date.parse(a.ticks[0] ?? "") - Date.parse(b.ticks[0] ?? ""))
    return { date: start, entries }
  })
