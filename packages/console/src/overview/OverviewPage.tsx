/**
 * The overview of the environment. Counts follow the live messages at once, and their updates start further queries.
 *
 * An open page costs the server at most one statement a second. Each update has four statements and two for the
 * credential, every 10 s at most. The waits and the newest errors have at most nine more, every 30 s at most. The
 * series of an hour has one or two, every 60 s at most. That of a month has at most a hundred, every five minutes.
 */

import { A, useSearchParams } from "@solidjs/router"
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/solid-query"
import type { Run, RunActivity, RunSeries } from "@weft/client"
import { For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { dataOf } from "../api/queries.ts"
import { Empty, ErrorNotice } from "../design/Feedback.tsx"
import { refreshOnActivity } from "../live/Live.ts"
import { RecentRun } from "../runs/RecentRun.tsx"
import { functionName } from "../runs/RunCells.tsx"
import { Legend, StepChart } from "../series/StepChart.tsx"
import { addToLast, lastHour, type Period, periodNames, periods, toSteps } from "../series/series.ts"
import { useSeries } from "../series/useSeries.ts"
import { formatCount, formatDuration, formatPercent } from "../text/format.ts"
import { t } from "../text/Language.ts"
import { Failures } from "./Failures.tsx"
import { FunctionTable } from "./FunctionTable.tsx"
import { endedOf, useLiveCounts } from "./LiveCounts.ts"
import { Usage } from "./Usage.tsx"

/** Minimum interval of updates, and of those of waits, in milliseconds. */
const refreshMs = 10_000
const waitsMs = 40_000

/** The queries of the page, which follow the activity of the environment. */
const useOverview = () => {
  const client = useQueryClient()
  const query = <T,>(group: string, name: string, queryFn: () => PromiseLike<T>) =>
    useQuery(() => ({
      queryKey: [group, name],
      queryFn: async () => await queryFn(),
      placeholderData: keepPreviousData
    }))
  const update = (group: string) => void client.invalidateQueries({ queryKey: [group] })
  refreshOnActivity(() => update("overview"), refreshMs)
  refreshOnActivity(() => update("waits"), waitsMs)
  const activity = query("overview", "activity", () => weft.runs.activity({ time_range: "PT1H" }))
  return {
    activity,
    stats: query("overview", "stats", () => weft.runs.stats()),
    recent: query("overview", "recent", () => weft.runs.list({ limit: 8, include: "usage" })),
    waiting: query("waits", "waiting", () => weft.runs.list({ waiting: "any", limit: 1 })),
    sleeping: query("waits", "sleeping", () => weft.runs.list({ waiting: "timer", limit: 1 })),
    counts: useLiveCounts(() => activity.dataUpdatedAt),
    retry: () => update("overview")
  }
}

type Overview = ReturnType<typeof useOverview>

export const OverviewPage = (): JSX.Element => {
  const overview = useOverview()
  const { activity, stats } = overview
  const [search] = useSearchParams<{ period?: string }>()
  const period = () => periodNames.find((name) => name === search.period) ?? "1h"
  const series = useSeries(period)
  return (
    <div class="page">
      <div class="page-head">
        <h1>{t().overview.title}</h1>
      </div>
      <Show when={activity.error ?? stats.error}>
        {(error) => <ErrorNotice error={error()} onRetry={overview.retry} />}
      </Show>
      <Tiles overview={overview} />
      <Activity overview={overview} series={dataOf(series)} period={period()} />
      <Show when={series.error}>{(error) => <ErrorNotice error={error()} />}</Show>
      <FunctionTable series={dataOf(series)} period={period()} />
      <div class="overview-grid">
        <RecentRuns runs={overview.recent.data?.items ?? []} isEmpty={stats.data?.total_runs === 0} />
        <div class="overview-side">
          <Failures failures={activity.data?.failures ?? []} />
          <Usage />
        </div>
      </div>
    </div>
  )
}

const Tiles = (props: { readonly overview: Overview }): JSX.Element => {
  const { activity, stats, waiting, sleeping, counts } = props.overview
  const running = () => {
    const counted = minus(stats.data?.running, waiting.data?.total)
    return counted === undefined ? undefined : Math.max(0, counted + counts().started - endedOf(counts()))
  }
  return (
    <div class="tiles">
      <Tile name={t().overview.running} value={toCount(running())} path="/runs?status=running" />
      <Tile name={t().overview.waiting} value={toCount(waiting.data?.total)} path="/runs?waiting=any" />
      <Tile name={t().overview.sleeping} value={toCount(sleeping.data?.total)} path="/runs?waiting=timer" />
      <Tile name={t().overview.success} value={successOf(activity.data)} />
      <Tile name={t().overview.p50} value={toDuration(activity.data?.p50_ms)} />
      <Tile name={t().overview.p95} value={toDuration(activity.data?.p95_ms)} />
    </div>
  )
}

/** The chart of the chosen period. The last hour has the counts of the newest runs, if these are complete. */
const Activity = (props: {
  readonly overview: Overview
  readonly series: RunSeries | undefined
  readonly period: Period
}): JSX.Element => {
  const [, setSearch] = useSearchParams<{ period?: string }>()
  const steps = () => {
    const minutes = props.overview.activity.data
    const isRecent = props.period === "1h" && (minutes?.complete ?? true)
    const counted =
      isRecent || props.series === undefined
        ? lastHour(minutes?.minutes ?? [], Date.now())
        : toSteps(props.series, props.series.series)
    return addToLast(counted, props.overview.counts())
  }
  const title = () =>
    props.period === "1h" ? t().overview.perMinute : t().overview.perStep(formatDuration(periods[props.period].stepMs))
  return (
    <section class="card" aria-labelledby="per-minute">
      <div class="card-head">
        <h2 id="per-minute">{title()}</h2>
        <label>
          <span class="visually-hidden">{t().runs.period}</span>
          <select class="input" onChange={({ currentTarget }) => setSearch({ period: currentTarget.value })}>
            <For each={periodNames}>
              {(name) => (
                <option value={name} selected={name === props.period}>
                  {t().runs.periods[name]}
                </option>
              )}
            </For>
          </select>
        </label>
        <Legend />
      </div>
      <div class="card-body">
        <StepChart steps={steps()} labelledBy="per-minute" />
      </div>
    </section>
  )
}

const RecentRuns = (props: { readonly runs: ReadonlyArray<Run>; readonly isEmpty: boolean }): JSX.Element => (
  <section class="card" aria-labelledby="recent">
    <div class="card-head">
      <h2 id="recent">{t().overview.recent}</h2>
      <A class="end" href="/runs">
        {t().overview.all}
      </A>
    </div>
    <Show when={!props.isEmpty} fallback={<Empty title={t().overview.emptyTitle} text={t().overview.empty} />}>
      <ul>
        <For each={props.runs}>{(run) => <RecentRun run={run} name={functionName(run)} />}</For>
      </ul>
    </Show>
  </section>
)

const Tile = (props: { readonly name: string; readonly value: string; readonly path?: string }): JSX.Element => (
  <div class="card tile">
    <Show when={props.path} fallback={<span class="tile-name">{props.name}</span>}>
      {(path) => (
        <A class="tile-name" href={path()}>
          {props.name}
        </A>
      )}
    </Show>
    <strong class="number">{props.value}</strong>
  </div>
)

/** Shown while a value loads, and without one. */
const unknown = "–"

const minus = (total: number | undefined, part: number | undefined): number | undefined =>
  total === undefined ? undefined : Math.max(0, total - (part ?? 0))

const toCount = (count: number | undefined): string => (count === undefined ? unknown : formatCount(count))

const toDuration = (ms: number | null | undefined): string =>
  ms === undefined || ms === null ? unknown : formatDuration(ms)

const successOf = (activity: RunActivity | undefined): string => {
  let succeeded = 0
  let ended = 0
  for (const minute of activity?.minutes ?? []) {
    succeeded += minute.succeeded
    ended += minute.succeeded + minute.failed
  }
  return ended === 0 ? unknown : formatPercent(succeeded / ended)
}
