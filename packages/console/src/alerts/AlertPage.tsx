/** One alert rule: its condition and state, the runs that it observes, its history, and actions on it. */
import { A, useNavigate, useParams } from "@solidjs/router"
import { useQuery, useQueryClient } from "@tanstack/solid-query"
import type { Alert, AlertTest, AlertWithSecret } from "@weft/client"
import { createSignal, For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { dataOf } from "../api/queries.ts"
import { curlCommand } from "../design/shellCommand.ts"
import { Confirm } from "../design/Confirm.tsx"
import { ErrorNotice } from "../design/Feedback.tsx"
import { Instant } from "../design/Instant.tsx"
import { OnceDialog } from "../design/OnceDialog.tsx"
import { showToast } from "../design/Toasts.tsx"
import { toSteps } from "../series/series.ts"
import { Legend, StepChart } from "../series/StepChart.tsx"
import { useSeries } from "../series/useSeries.ts"
import { t } from "../text/Language.ts"
import { AlertBadge } from "./AlertBadge.tsx"
import { AlertForm } from "./AlertForm.tsx"
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
      <dd class="mono">{scopeOf(props.alert)}</dd>
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

type Asked = "edit" | "switch" | "test" | "remove" | null

const AlertActions = (props: { readonly alert: Alert }): JSX.Element => {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [asked, setAsked] = createSignal<Asked>(null)
  const [tested, setTested] = createSignal<AlertTest | null>(null)
  const [changed, setChanged] = createSignal<AlertWithSecret | null>(null)
  const id = () => props.alert.alert_id
  const close = () => setAsked(null)
  const refresh = () => client.invalidateQueries({ queryKey: ["alerts"] })
  const toggle = async () => {
    await weft.alerts.update(id(), { enabled: !props.alert.enabled })
    showToast(t().alerts.saved)
    await refresh()
  }
  const remove = async () => {
    await weft.alerts.remove(id())
    showToast(t().alerts.removed)
    navigate("/alerts")
    await client.invalidateQueries({ queryKey: ["alerts"], exact: true })
  }
  const test = async () => {
    setTested(await weft.alerts.test(id()))
    await refresh()
  }
  const onSaved = (saved: AlertWithSecret) => {
    void refresh()
    if (saved.actions.some(({ type }) => type === "webhook")) setChanged(saved)
  }
  const switchText = () => (props.alert.enabled ? t().alerts.disable : t().alerts.enable)
  return (
    <>
      <button type="button" class="button" onClick={() => setAsked("test")}>
        {t().alerts.test}
      </button>
      <button type="button" class="button" onClick={() => setAsked("switch")}>
        {switchText()}
      </button>
      <button type="button" class="button danger" onClick={() => setAsked("remove")}>
        {t().alerts.remove}
      </button>
      <button type="button" class="button primary" onClick={() => setAsked("edit")}>
        {t().alerts.edit}
      </button>
      <Show when={asked() === "edit"}>
        <AlertForm edited={props.alert} onClose={close} onSaved={onSaved} />
      </Show>
      <Confirm
        isOpen={asked() === "switch"}
        onClose={close}
        title={switchText()}
        text={props.alert.enabled ? t().alerts.disableText : t().alerts.enableText}
        action={switchText()}
        command={curlCommand("PATCH", `/alerts/${id()}`, { enabled: !props.alert.enabled })}
        onConfirm={toggle}
      />
      <Confirm
        isOpen={asked() === "test"}
        onClose={close}
        title={t().alerts.testTitle}
        text={t().alerts.testText}
        action={t().alerts.test}
        command={`weft alerts test ${id()}`}
        onConfirm={test}
      />
      <Confirm
        isOpen={asked() === "remove"}
        onClose={close}
        title={t().alerts.removeTitle}
        text={t().alerts.removeText}
        action={t().alerts.remove}
        command={`weft alerts delete ${id()}`}
        isDanger
        onConfirm={remove}
      />
      <OnceDialog
        secret={tested()?.webhook_secret ?? null}
        title={t().alerts.testResults}
        text={t().alerts.secretText}
        onClose={() => setTested(null)}
      >
        <TestResults results={tested()?.results ?? []} />
      </OnceDialog>
      <OnceDialog
        secret={changed()?.webhook_secret ?? null}
        title={t().alerts.secretTitle}
        text={t().alerts.secretText}
        onClose={() => setChanged(null)}
      />
    </>
  )
}

const TestResults = (props: { readonly results: AlertTest["results"] }): JSX.Element => (
  <ul class="test-results">
    <For each={props.results}>
      {({ action, error }) => (
        <li>
          <span class={`badge ${error === null ? "succeeded" : "failed"}`}>
            {error === null ? t().alerts.ok : t().status.failed}
          </span>
          <span>
            {actionOf(action)}
            <Show when={error}>{(message) => <span class="failed-text"> {message()}</span>}</Show>
          </span>
        </li>
      )}
    </For>
  </ul>
)
