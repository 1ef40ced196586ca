/** The functions with the most runs of the period: counts, failures and latencies. */
import { A } from "@solidjs/router"
import type { FunctionSeries, RunSeries } from "@weft/client"
import { For, type JSX, Show } from "solid-js"
import { endedIn, type Period, toSteps } from "../series/series.ts"
import { formatCount, formatDuration, formatPercent } from "../text/format.ts"
import { t } from "../text/Language.ts"

/** Functions that the table shows. */
const shownMax = 8

/** Height of a spark line in its own units. */
const sparkHeight = 20

export const FunctionTable = (props: {
  readonly series: RunSeries | undefined
  readonly period: Period
}): JSX.Element => (
  <section class="card" aria-labelledby="by-function">
    <div class="card-head">
      <h2 id="by-function">{t().overview.byFunction}</h2>
      <span class="muted">{t().runs.periods[props.period]}</span>
    </div>
    <Show
      when={(props.series?.series.length ?? 0) > 0}
      fallback={<p class="card-body muted">{t().overview.noFunctions}</p>}
    >
      <div class="table-wrap">
        <table class="table functions-table">
          <thead>
            <tr>
              <th scope="col">{t().overview.function}</th>
              <th scope="col" class="wide-only">
                {t().overview.overTime}
              </th>
              <th scope="col" class="end">
                {t().nav.runs}
              </th>
              <th scope="col" class="end">
                {t().status.failed}
              </th>
              <th scope="col" class="end wide-only">
                {t().overview.p50}
              </th>
              <th scope="col" class="end">
                p95
              </th>
              <th scope="col" class="end wide-only">
                {t().overview.waitP95}
              </th>
            </tr>
          </thead>
          <tbody>
            <For each={props.series?.series.slice(0, shownMax) ?? []}>
              {(fn) => <FunctionRow fn={fn} series={props.series} period={props.period} />}
            </For>
          </tbody>
        </table>
      </div>
    </Show>
  </section>
)

const FunctionRow = (props: {
  readonly fn: FunctionSeries
  readonly series: RunSeries | undefined
  readonly period: Period
}): JSX.Element => {
  const ended = () => endedIn(props.fn.total)
  const path = () => {
    const { project_name, ns, var: name } = props.fn
    return `/runs?${new URLSearchParams({ fn: `${ns}/${name}`, project: project_name ?? "", period: props.period })}`
  }
  const failedShare = () => (ended() === 0 ? 0 : props.fn.total.failed / ended())
  return (
    <tr>
      <td class="cut">
        <Show when={props.fn.ns !== null} fallback={<span class="muted">{t().overview.otherFunctions}</span>}>
          <A class="mono" href={path()}>
            {props.fn.ns}/{props.fn.var}
          </A>{" "}
          <span class="muted">{props.fn.project_name}</span>
        </Show>
      </td>
      <td class="wide-only">
        <Spark series={props.series} fn={props.fn} />
      </td>
      <td class="end number">{formatCount(ended())}</td>
      <td class="end number">
        <span classList={{ "failed-share": props.fn.total.failed > 0 }}>{formatPercent(failedShare())}</span>
      </td>
      <td class="end number wide-only">{toTime(props.fn.total.duration?.p50_ms)}</td>
      <td class="end number">{toTime(props.fn.total.duration?.p95_ms)}</td>
      <td class="end number wide-only">{toTime(props.fn.total.wait?.p95_ms)}</td>
    </tr>
  )
}

const toTime = (ms: number | undefined): string => (ms === undefined ? "–" : formatDuration(ms))

/** Bars of the ended runs, with the failed ones below. Decoration: the columns have the numbers. */
const Spark = (props: { readonly series: RunSeries | undefined; readonly fn: FunctionSeries }): JSX.Element => {
  const steps = () => (props.series === undefined ? [] : toSteps(props.series, [props.fn]))
  const scale = () => sparkHeight / Math.max(1, ...steps().map(endedIn))
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${Math.max(1, steps().length)} ${sparkHeight}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <For each={steps()}>
        {(step, index) => (
          <>
            <Bar x={index()} height={endedIn(step) * scale()} status="ended" />
            <Bar x={index()} height={step.failed * scale()} status="failed" />
          </>
        )}
      </For>
    </svg>
  )
}

const Bar = (props: { readonly x: number; readonly height: number; readonly status: string }): JSX.Element => (
  <Show when={props.height > 0}>
    <rect class={props.status} x={props.x} y={sparkHeight - props.height} width="0.8" height={props.height} />
  </Show>
)
