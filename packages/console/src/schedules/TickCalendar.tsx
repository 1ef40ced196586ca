/** The ticks of all schedules in the next seven days, as a calendar. */
import { useQuery } from "@tanstack/solid-query"
import type { UpcomingTicks } from "@weft/client"
import { For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { ErrorNotice } from "../design/Feedback.tsx"
import { Instant } from "../design/Instant.tsx"
import { formatDay, formatTime } from "../text/format.ts"
import { t } from "../text/Language.ts"
import { type CalendarDay, toCalendar } from "./calendar.ts"
import "./schedules.css"

const days = 7

/** Schedules whose ticks are shown: those with the earliest ticks. */
const schedulesMax = 100

export const TickCalendar = (): JSX.Element => {
  const upcoming = useQuery(() => ({
    queryKey: ["schedules", "ticks"],
    queryFn: async () => await weft.schedules.upcoming({ days, limit: schedulesMax })
  }))
  const frequent = () => (upcoming.data?.items ?? []).filter(({ more }) => more)
  const calendar = () =>
    toCalendar(
      (upcoming.data?.items ?? []).filter(({ more }) => !more),
      new Date(),
      days
    )
  return (
    <>
      <Show when={upcoming.error}>{(error) => <ErrorNotice error={error()} />}</Show>
      <Show when={(upcoming.data?.total ?? 0) > 0}>
        <section class="card" aria-labelledby="calendar">
          <div class="card-head">
            <h2 id="calendar">{t().calendar.title}</h2>
            <Show when={(upcoming.data?.total ?? 0) > schedulesMax}>
              <span class="muted">{t().calendar.first(schedulesMax)}</span>
            </Show>
          </div>
          <ol class="calendar">
            <For each={calendar()}>{(day) => <Day day={day} />}</For>
          </ol>
          <Show when={frequent().length > 0}>
            <h3 class="sub-head divided">{t().calendar.frequent}</h3>
            <ul class="card-body grid">
              <For each={frequent()}>{(schedule) => <Frequent schedule={schedule} />}</For>
            </ul>
          </Show>
        </section>
      </Show>
    </>
  )
}

const Day = (props: { readonly day: CalendarDay }): JSX.Element => (
  <li class="day">
    <h3>{formatDay(props.day.date)}</h3>
    <ul>
      <For each={props.day.entries} fallback={<li class="muted">{t().calendar.none}</li>}>
        {({ schedule, ticks }) => (
          <li class="tick" title={`${schedule.cron ?? t().schedules.once} · ${schedule.timezone}`}>
            <span class="number muted">
              {formatTime(ticks[0] ?? schedule.next_at)}
              <Show when={ticks.length > 1}> {t().calendar.times(ticks.length)}</Show>
            </span>
            <span class="mono cut">
              {schedule.ns}/{schedule.var}
            </span>
          </li>
        )}
      </For>
    </ul>
  </li>
)

const Frequent = (props: { readonly schedule: UpcomingTicks }): JSX.Element => (
  <li class="frequent">
    <span class="mono cut">
      {props.schedule.ns}/{props.schedule.var}
    </span>
    <span class="mono muted">{props.schedule.cron}</span>
    <span class="muted">
      {t().schedules.next} <Instant at={props.schedule.next_at} />
    </span>
  </li>
)
