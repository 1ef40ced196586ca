/** Parts of a run that several pages show. */

import { A } from "@solidjs/router"
import type { Run } from "@weft/client"
import { createSignal, type JSX, onCleanup, Show } from "solid-js"
import { StatusBadge, shownStatus } from "../design/StatusBadge.tsx"
import { formatDuration, formatInstant } from "../text/format.ts"
import { t } from "../text/Language.ts"

/** The function of a run as `ns/var`, or its short id if the usage is not loaded. */
export const functionName = ({ usage, run_id }: Run): string =>
  usage === undefined ? run_id.slice(-12) : `${usage.ns}/${usage.var}`

const [clock, setClock] = createSignal(Date.now())
let watchers = 0
let timer: ReturnType<typeof setInterval> | undefined

/** The current time, once a second while a view shows a run in progress. */
const useClock = (): (() => number) => {
  if (watchers++ === 0) timer = setInterval(() => setClock(Date.now()), 1000)
  onCleanup(() => {
    if (--watchers === 0) clearInterval(timer)
  })
  return clock
}

/** Milliseconds from the start of a run to its end, or to `now`. */
const durationOf = ({ start_time, stop_time }: Run, now: number): number =>
  Math.max(0, (stop_time === null ? now : Date.parse(stop_time)) - Date.parse(start_time))

export const RunDuration = (props: { readonly run: Run }): JSX.Element => (
  <Show when={props.run.stop_time === null} fallback={formatDuration(durationOf(props.run, 0))}>
    <Running run={props.run} />
  </Show>
)

const Running = (props: { readonly run: Run }): JSX.Element => {
  const now = useClock()
  return <>{formatDuration(Math.floor(durationOf(props.run, now()) / 1000) * 1000)}</>
}

/** The cells of a row. The first one is the link. */
export const RunCells = (props: { readonly run: Run }): JSX.Element => (
  <>
    <span role="cell">
      <StatusBadge status={shownStatus(props.run)} />
    </span>
    <span role="cell" class="cut">
      <A class="row-link mono" href={`/runs/${props.run.run_id}`}>
        {functionName(props.run)}
      </A>
    </span>
    <span role="cell" class="cut wide">
      {props.run.project_name}
    </span>
    <span role="cell" class="wide muted">
      {t().types[props.run.run_type] ?? props.run.run_type}
    </span>
    <span role="cell" class="cut muted">
      <time datetime={props.run.start_time} title={props.run.start_time}>
        {formatInstant(props.run.start_time)}
      </time>
    </span>
    <span role="cell" class="number end">
      <RunDuration run={props.run} />
    </span>
  </>
)

export const runHeaders = (): ReadonlyArray<string> => [
  t().runs.status,
  t().runs.function,
  t().runs.project,
  t().runs.type,
  t().runs.started,
  t().runs.duration
]
