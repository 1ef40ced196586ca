/** Ended runs of the last hour as one stacked bar for each minute. */
import type { RunActivity } from "@weft/client"
import { createMemo, For, type JSX } from "solid-js"
import { formatCount, formatTime } from "../text/format.ts"
import { t } from "../text/Language.ts"
import type { LiveCounts } from "./LiveCounts.ts"

type Minute = RunActivity["minutes"][number]

const minuteMs = 60_000
const shown = 60

/** Returns the last 60 minutes in their order, also those without a run. */
const lastHour = (minutes: ReadonlyArray<Minute>, now: number): ReadonlyArray<Minute> => {
  const known = new Map(minutes.map((minute) => [Date.parse(minute.time), minute]))
  const last = Math.floor(now / minuteMs) * minuteMs
  return Array.from({ length: shown }, (_, index) => {
    const time = last - (shown - 1 - index) * minuteMs
    return known.get(time) ?? { time: new Date(time).toISOString(), succeeded: 0, failed: 0, cancelled: 0 }
  })
}

/** Adds live counts to the current minute. */
const addLive = (minutes: ReadonlyArray<Minute>, live: LiveCounts): ReadonlyArray<Minute> =>
  minutes.map((minute, index) =>
    index === shown - 1
      ? {
          time: minute.time,
          succeeded: minute.succeeded + live.succeeded,
          failed: minute.failed + live.failed,
          cancelled: minute.cancelled + live.cancelled
        }
      : minute
  )

/** Returns the least round number that is not smaller. */
const roundUp = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)))
  return [1, 2, 4, 5, 10].map((factor) => factor * power).find((round) => round >= value) ?? value
}

const totalOf = ({ succeeded, failed, cancelled }: Minute): number => succeeded + failed + cancelled

export const MinuteChart = (props: {
  readonly minutes: ReadonlyArray<Minute>
  /** Runs that ended since `minutes` was loaded. */
  readonly live: LiveCounts
}): JSX.Element => {
  const bars = createMemo(() => addLive(lastHour(props.minutes, Date.now()), props.live))
  const top = () => roundUp(Math.max(4, ...bars().map(totalOf)))
  const label = (minute: Minute) =>
    t().overview.minute(formatTime(minute.time), minute.succeeded, minute.failed, minute.cancelled)
  return (
    <figure class="chart">
      <div class="chart-axis" aria-hidden="true">
        <span>{formatCount(top())}</span>
        <span>{formatCount(top() / 2)}</span>
        <span>0</span>
      </div>
      <ol class="chart-bars" aria-labelledby="per-minute">
        <For each={bars()}>
          {(minute) => (
            <li title={label(minute)}>
              <span class="visually-hidden">{label(minute)}</span>
              <Part share={minute.cancelled / top()} status="cancelled" />
              <Part share={minute.failed / top()} status="failed" />
              <Part share={minute.succeeded / top()} status="succeeded" />
            </li>
          )}
        </For>
      </ol>
      <div class="chart-times" aria-hidden="true">
        <For each={[0, 15, 30, 45, 59]}>{(index) => <span>{formatTime(bars()[index]?.time ?? 0)}</span>}</For>
      </div>
    </figure>
  )
}

const Part = (props: { readonly share: number; readonly status: string }): JSX.Element => (
  <span class={`part ${props.status}`} style={{ height: `${props.share * 100}%` }} />
)
