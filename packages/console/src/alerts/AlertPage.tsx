/** One alert rule: its condition and state, the runs that it observes, its history, and actions on it. */
import { A, useParams } from "@solidjs/router"
import { useQuery } from "@tanstack/solid-query"
import type { Alert } from "@weft/client"
import { For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { dataOf } from "../api/queries.ts"
import { ErrorNotice } from "../design/Feedback.tsx"
import { Instant } from "../design/Instant.tsx"
import { Legend, StepChart } from "../series/StepChart.tsx"
import { toSteps } from "../series/series.ts"
import { useSeries } from "../series/useSeries.ts"
import { t } from "../text/Language.ts"
import { AlertActions } from "./AlertActions.tsx"
import { AlertBadge } from "./AlertBadge.tsx"
import { AlertHistory } from "./AlertHistory.tsx"
import { actionOf, conditionOf, scopeOf, valueOf } from "./AlertText.ts"
import "./alerts.css"

/** Interval of updates, in milliseconds. A rule is evaluated at most once a minute. */
const followMs = 30_000

export default function AlertPage(): JSX.Element {
  const params = useParams<{ id: string }>()
  const alert = useQuery(() => ({
    queryKey: ["alerts", params.id],
    queryFn: ({ signal }) => weft.alerts.get(params.id, { signal }),
    refetchInterval: followMs
  }))
  return (
    <div class="page">
      <A class="crumb" href="/alerts">
        ← {t().alerts.title}
      </A>
      <Show when={alert.error}>{(error) => <ErrorNotice error={error()} onRetry={() => void alert.refetch()} />}</Show>
      <Show when={alert.data}>
        {(data) => (
          <>
            <div class="page-head">
              <h1>{data().name}</h1>
              <AlertBadge alert={data()} />
              <div class="actions">
                <AlertActions alert={data()} />
              </div>
            </div>
            <div class="run-grid">
              <div>
                <ObservedRuns alert={data()} />
                <AlertHistory alertId={data().alert_id} version={data().updated_at + data().since} />
              </div>
              <AlertFacts alert={data()} />
            </div>
          </>
        )}
      </Show>
    </div>
  )
}

const AlertFacts = (props: { readonly alert: Alert }): JSX.Element => (
  <section class="card" aria-labelledby="details">
    <div class="card-head">
      <h2 id="details">{t().alerts.details}</h2>
    </div>
    <dl class="facts card-body">
      <dt>{t().alerts.of}</dt>
      <dd classList={{ mono: props.alert.ns !== null }}>{scopeOf(props.alert)}</dd>
      <dt>{t().alerts.condition}</dt>
      <dd>{conditionOf(props.alert)}</dd>
      <dt>{t().alerts.heldFor}</dt>
      <dd class="number">{props.alert.for_minutes} min</dd>
      <dt>{t().alerts.value}</dt>
      <dd class="number">{valueOf(props.alert)}</dd>
      <dt>{t().alerts.since}</dt>
      <dd>
        <Instant at={props.alert.since} />
      </dd>
      <dt>{t().alerts.evaluated}</dt>
      <dd>
        <Show when={props.alert.evaluated_at} fallback="–">
          {(at) => <Instant at={at()} />}
        </Show>
      </dd>
      <dt>{t().alerts.actions}</dt>
      <dd>
        <ul>
          <For each={props.alert.actions}>{(action) => <li>{actionOf(action)}</li>}</For>
        </ul>
      </dd>
      <Show when={props.alert.last_error}>
        {(error) => (
          <>
            <dt>{t().alerts.lastError}</dt>
            <dd class="failed-text">{error()}</dd>
          </>
        )}
      </Show>
    </dl>
  </section>
)

const ObservedRuns = (props: { readonly alert: Alert }): JSX.Element => {
  const series = useSeries(
    () => "24h",
    () => {
      const { project_id, ns, var: name } = props.alert
      if (project_id === null) return {}
      return ns === null ? { project: project_id } : { project: project_id, fn: `${ns}/${name}` }
    }
  )
  return (
    <section class="card" aria-labelledby="observed">
      <div class="card-head">
        <h2 id="observed">{t().alerts.runs}</h2>
        <span class="muted">{t().alerts.last}</span>
        <Legend />
      </div>
      <div class="card-body">
        <Show when={series.error}>{(error) => <ErrorNotice error={error()} />}</Show>
        <Show when={dataOf(series)}>
          {(data) => <StepChart steps={toSteps(data(), data().series)} labelledBy="observed" />}
        </Show>
      </div>
    </section>
  )
}
