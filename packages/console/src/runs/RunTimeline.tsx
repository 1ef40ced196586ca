/** The timeline of a run: the attempts for its event, and the steps and waits of a durable function, as bars. */

import { A } from "@solidjs/router"
import { useQuery } from "@tanstack/solid-query"
import type { Run, RunStep } from "@weft/client"
import { For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { ErrorNotice } from "../design/Feedback.tsx"
import { shownStatus } from "../design/StatusBadge.tsx"
import { formatDuration } from "../text/format.ts"
import { t } from "../text/Language.ts"

interface Bar {
  readonly label: string
  readonly path: string | null
  readonly start: number
  readonly end: number
  readonly status: string
}

export const RunTimeline = (props: { readonly run: Run }): JSX.Element => {
  const siblings = useQuery(() => ({
    queryKey: ["run", props.run.run_id, "attempts", props.run.status],
    queryFn: async () => (await weft.events.runs(props.run.event_id ?? "", { limit: 100 })).items,
    enabled: props.run.event_id !== null
  }))
  const steps = useQuery(() => ({
    queryKey: ["run", props.run.run_id, "steps", props.run.steps, props.run.status],
    queryFn: async () => await weft.runs.steps(props.run.run_id, { limit: 100 }),
    enabled: props.run.durable === true
  }))
  const bars = (): ReadonlyArray<Bar> => [
    ...attemptsOf(props.run, siblings.data ?? []),
    ...(steps.data?.items ?? []).map(toStepBar),
    ...(steps.data?.waits ?? []).map(
      ({ kind, name, since }): Bar => ({
        label: name === "" ? kind : name,
        path: null,
        start: Date.parse(since),
        end: Date.now(),
        status: "waiting"
      })
    )
  ]
  const span = () => {
    const shown = bars()
    const start = Math.min(...shown.map((bar) => bar.start))
    return { start, length: Math.max(1, Math.max(...shown.map((bar) => bar.end)) - start) }
  }
  return (
    <section class="card" aria-labelledby="timeline">
      <div class="card-head">
        <h2 id="timeline">{t().run.timeline}</h2>
      </div>
      <div class="card-body">
        <Show when={steps.error ?? siblings.error}>{(error) => <ErrorNotice error={error()} />}</Show>
        <div class="bars">
          <For each={bars()}>
            {(bar) => (
              <>
                <span class="cut" title={bar.label}>
                  <Show when={bar.path} fallback={bar.label}>
                    {(path) => <A href={path()}>{bar.label}</A>}
                  </Show>
                </span>
                <div class="track">
                  <div
                    class={`bar ${bar.status}`}
                    style={{
                      left: `${((bar.start - span().start) / span().length) * 100}%`,
                      width: `${((bar.end - bar.start) / span().length) * 100}%`
                    }}
                  />
                </div>
                <span class="value">{formatDuration(bar.end - bar.start)}</span>
              </>
            )}
          </For>
        </div>
      </div>
    </section>
  )
}

/** Returns the bars of all runs of the event in this function's chain of attempts, first attempt first. */
const attemptsOf = (run: Run, siblings: ReadonlyArray<Run>): ReadonlyArray<Bar> => {
  const first = run.origin_run_id ?? run.run_id
  const chain = siblings.filter(
    ({ run_id, origin_run_id }) =>
      run_id === run.run_id || run_id === first || origin_run_id === first || origin_run_id === run.run_id
  )
  const others = chain.filter(({ run_id }) => run_id !== run.run_id)
  const all = [...others, run].sort((a, b) => a.start_time.localeCompare(b.start_time))
  return all.map((attempt, index) => ({
    label: all.length > 1 ? t().run.attempt(index + 1) : t().run.thisRun,
    path: attempt.run_id === run.run_id ? null : `/runs/${attempt.run_id}`,
    start: Date.parse(attempt.start_time),
    end: attempt.stop_time === null ? Date.now() : Date.parse(attempt.stop_time),
    status: shownStatus(attempt)
  }))
}

const toStepBar = ({ kind, name, ok, started_at, ended_at }: RunStep): Bar => ({
  label: name === "" ? kind : name,
  path: null,
  start: Date.parse(started_at),
  end: Date.parse(ended_at),
  status: kind === "sleep" ? "waiting" : ok ? "succeeded" : "failed"
})
