/** Ended runs over time, as one stacked bar for each step. */
import { For, type JSX } from "solid-js"
import { formatCount, formatDay, formatInstant, formatTime } from "../text/format.ts"
import { t } from "../text/Language.ts"
import { endedIn, type Step } from "./series.ts"
import "./series.css"

/** Returns the least round number that is not smaller. */
const roundUp = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)))
  return [1, 2, 4, 5, 10].map((factor) => factor * power).find((round) => round >= value) ?? value
}

/** Shares of the width at which the axis has a time. */
const ticks = [0, 0.25, 0.5, 0.75, 1] as const

const dayMs = 86_400_000

export const StepChart = (props: {
  readonly steps: ReadonlyArray<Step>
  /** Id of the heading. */
  readonly labelledBy: string
}): JSX.Element => {
  const top = () => roundUp(Math.max(4, ...props.steps.map(endedIn)))
  /** True if times of the axis need their day. */
  const isLong = () => (props.steps.at(-1)?.time ?? 0) - (props.steps[0]?.time ?? 0) > dayMs
  const label = ({ time, succeeded, failed, cancelled }: Step) => {
    const shown = isLong() ? formatInstant(new Date(time).toISOString()) : formatTime(time)
    return t().overview.minute(shown, succeeded, failed, cancelled)
  }
  const tick = (share: number) => {
    const time = props.steps[Math.round(share * (props.steps.length - 1))]?.time ?? 0
    return isLong() ? formatDay(new Date(time)) : formatTime(time)
  }
  return (
    <figure class="chart">
      <div class="chart-axis" aria-hidden="true">
        <span>{formatCount(top())}</span>
        <span>{formatCount(top() / 2)}</span>
        <span>0</span>
      </div>
      <ol class="chart-bars" aria-labelledby={props.labelledBy}>
        <For each={props.steps}>
          {(step) => (
            <li title={label(step)}>
              <span class="visually-hidden">{label(step)}</span>
              <Part share={step.cancelled / top()} status="cancelled" />
              <Part share={step.failed / top()} status="failed" />
              <Part share={step.succeeded / top()} status="succeeded" />
            </li>
          )}
        </For>
      </ol>
      <div class="chart-times" aria-hidden="true">
        <For each={ticks}>{(share) => <span>{tick(share)}</span>}</For>
      </div>
    </figure>
  )
}

const Part = (props: { readonly share: number; readonly status: string }): JSX.Element => (
  <span class={`part ${props.status}`} style={{ height: `${props.share * 100}%` }} />
)

export const Legend = (): JSX.Element => (
  <ul class="legend end">
    <For each={["succeeded", "failed", "cancelled"] as const}>
      {(status) => <li class={status}>{t().status[status]}</li>}
    </For>
  </ul>
)
