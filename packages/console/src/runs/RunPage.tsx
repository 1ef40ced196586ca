/** One run: what it did, its log, input and output, its cause, and actions on it. */

import { A, useNavigate, useParams } from "@solidjs/router"
import { useQuery, useQueryClient } from "@tanstack/solid-query"
import type { Json, Run } from "@weft/client"
import { type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { CopyButton } from "../design/CopyButton.tsx"
import { DataTree } from "../design/DataTree.tsx"
import { ErrorNotice } from "../design/Feedback.tsx"
import { Instant } from "../design/Instant.tsx"
import { StatusBadge, shownStatus } from "../design/StatusBadge.tsx"
import { refreshOnActivity } from "../live/Live.ts"
import { formatBytes, formatDuration } from "../text/format.ts"
import { t } from "../text/Language.ts"
import { RunActions } from "./RunActions.tsx"
import { RunDuration } from "./RunCells.tsx"
import { RunLineage } from "./RunLineage.tsx"
import { RunLog } from "./RunLog.tsx"
import { RunOutcome } from "./RunOutcome.tsx"
import { RunTimeline } from "./RunTimeline.tsx"

/** Interval of updates after live messages, in milliseconds. */
const refreshMs = 300

export default function RunPage(): JSX.Element {
  const params = useParams<{ id: string }>()
  const client = useQueryClient()
  const navigate = useNavigate()
  const run = useQuery(() => ({
    queryKey: ["run", params.id],
    queryFn: ({ signal }) => weft.runs.get(params.id, { signal })
  }))
  refreshOnActivity(
    () => void client.invalidateQueries({ queryKey: ["run", params.id] }),
    refreshMs,
    ({ data }) => "run_id" in data && data.run_id === params.id
  )
  return (
    <div class="page">
      <A class="crumb" href="/runs">
        ← {t().runs.title}
      </A>
      <Show when={run.error}>{(error) => <ErrorNotice error={error()} onRetry={() => void run.refetch()} />}</Show>
      <Show when={run.data}>{(data) => <Details run={data()} onReplayed={(id) => navigate(`/runs/${id}`)} />}</Show>
    </div>
  )
}

const Details = (props: { readonly run: Run; readonly onReplayed: (runId: string) => void }): JSX.Element => {
  const id = () => props.run.run_id
  const usage = useQuery(() => ({
    // The usage of a run changes at its end only.
    queryKey: ["run", id(), "usage", props.run.status],
    queryFn: () => weft.runs.usage(id())
  }))
  const name = () => (usage.data === undefined ? t().run.title : `${usage.data.ns}/${usage.data.var}`)
  return (
    <>
      <div class="page-head">
        <h1 class="mono-title">{name()}</h1>
        <StatusBadge status={shownStatus(props.run)} />
        <div class="actions">
          <RunActions run={props.run} onReplayed={props.onReplayed} />
        </div>
      </div>
      <div class="run-grid">
        <div>
          <RunTimeline run={props.run} />
          <div class="run-data">
            <Input run={props.run} />
            <Output run={props.run} />
          </div>
          <RunLog run={props.run} />
          <RunLineage run={props.run} />
        </div>
        <section class="card" aria-labelledby="details">
          <div class="card-head">
            <h2 id="details">{t().run.details}</h2>
          </div>
          <dl class="facts card-body">
            <dt>{t().run.copyId}</dt>
            <dd class="mono with-copy">
              {id()}
              <CopyButton text={id()} label={t().run.copyId} />
            </dd>
            <dt>{t().run.project}</dt>
            <dd>{props.run.project_name}</dd>
            <dt>{t().run.started}</dt>
            <dd>
              <Instant at={props.run.start_time} />
            </dd>
            <Show when={props.run.stop_time}>
              {(stop) => (
                <>
                  <dt>{t().run.ended}</dt>
                  <dd>
                    <Instant at={stop()} />
                  </dd>
                </>
              )}
            </Show>
            <dt>{t().run.duration}</dt>
            <dd class="number">
              <RunDuration run={props.run} />
            </dd>
            <Show when={usage.data}>
              {(used) => (
                <>
                  <dt>{t().runs.attempt}</dt>
                  <dd class="number">{used().attempt}</dd>
                  <Fact name={t().run.cpu} value={used().cpu_ms} format={formatDuration} />
                  <Fact name={t().run.heap} value={used().heap_bytes} format={formatBytes} />
                </>
              )}
            </Show>
            <Fact name={t().run.activations} value={props.run.activations ?? null} format={String} />
            <Show when={props.run.waiting}>
              {(waiting) => (
                <>
                  <dt>{t().run.waitingFor}</dt>
                  <dd>
                    {t().waits[waiting().for] ?? waiting().for}: <code>{waiting().name}</code>
                    <Show when={waiting().until}>
                      {(until) => (
                        <>
                          {" "}
                          {t().run.until} <Instant at={until()} />
                        </>
                      )}
                    </Show>
                  </dd>
                </>
              )}
            </Show>
            <Cause run={props.run} />
            <dt>{t().run.build}</dt>
            <dd class="mono">{props.run.build_id}</dd>
            <dt>{t().run.stream}</dt>
            <dd class="mono">{props.run.stream_id}</dd>
          </dl>
        </section>
      </div>
    </>
  )
}

const Fact = (props: {
  readonly name: string
  readonly value: number | null
  readonly format: (value: number) => string
}): JSX.Element => (
  <Show when={props.value !== null}>
    <dt>{props.name}</dt>
    <dd class="number">{props.format(props.value ?? 0)}</dd>
  </Show>
)

/** The event of a run, which never changes. */
const useEvent = (run: () => Run) =>
  useQuery(() => ({
    queryKey: ["event", run().event_id],
    queryFn: () => weft.events.get(run().event_id ?? ""),
    enabled: run().event_id !== null,
    staleTime: Number.POSITIVE_INFINITY
  }))

const Cause = (props: { readonly run: Run }): JSX.Element => {
  const event = useEvent(() => props.run)
  return (
    <>
      <dt>{t().run.cause}</dt>
      <dd>
        <Show when={props.run.event_id} fallback={t().types[props.run.run_type] ?? props.run.run_type}>
          {(id) => (
            <>
              {t().run.event} <A href={`/events/${id()}`}>{event.data?.event_type ?? id()}</A>
            </>
          )}
        </Show>
      </dd>
      <Show when={props.run.origin_run_id}>
        {(id) => (
          <>
            <dt>{t().run.causedBy}</dt>
            <dd>
              <A class="mono" href={`/runs/${id()}`}>
                {id()}
              </A>
            </dd>
          </>
        )}
      </Show>
    </>
  )
}

const DataCard = (props: {
  readonly id: string
  readonly title: string
  readonly value: Json
  readonly children?: JSX.Element
}) => (
  <section class="card" aria-labelledby={props.id}>
    <div class="card-head">
      <h2 id={props.id}>{props.title}</h2>
      <span class="end">
        <CopyButton text={JSON.stringify(props.value, null, 2)} label={props.title} />
      </span>
    </div>
    <div class="card-body">{props.children ?? <DataTree value={props.value} />}</div>
  </section>
)

const Input = (props: { readonly run: Run }): JSX.Element => {
  const event = useEvent(() => props.run)
  return (
    <DataCard id="input" title={t().run.input} value={event.data?.event_data ?? null}>
      <Show when={props.run.event_id !== null} fallback={<p class="muted">{t().run.noInput}</p>}>
        <Show when={event.error}>{(error) => <ErrorNotice error={error()} />}</Show>
        <Show when={event.data}>{(data) => <DataTree value={data().event_data} />}</Show>
      </Show>
    </DataCard>
  )
}

const Output = (props: { readonly run: Run }): JSX.Element => (
  <DataCard id="output" title={props.run.status === "failed" ? t().run.error : t().run.output} value={props.run.result}>
    <RunOutcome run={props.run} />
  </DataCard>
)
