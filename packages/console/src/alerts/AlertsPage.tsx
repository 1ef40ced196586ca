/** Alert rules with their states. */
import { A, useNavigate } from "@solidjs/router"
import { useQuery, useQueryClient } from "@tanstack/solid-query"
import type { Alert, AlertWithSecret } from "@weft/client"
import { createSignal, For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { Empty, ErrorNotice } from "../design/Feedback.tsx"
import { Icon } from "../design/Icon.tsx"
import { Instant } from "../design/Instant.tsx"
import { OnceDialog } from "../design/OnceDialog.tsx"
import { t } from "../text/Language.ts"
import { AlertBadge } from "./AlertBadge.tsx"
import { AlertForm } from "./AlertForm.tsx"
import { conditionOf, scopeOf, valueOf } from "./AlertText.ts"
import "./alerts.css"

/** Rules that the page shows. */
const shownMax = 100

/** Interval of updates while there are rules, in milliseconds. A rule is evaluated at most once a minute. */
const followMs = 30_000

export default function AlertsPage(): JSX.Element {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [isCreating, setCreating] = createSignal(false)
  const [created, setCreated] = createSignal<AlertWithSecret | null>(null)
  const alerts = useQuery(() => ({
    queryKey: ["alerts"],
    queryFn: async () => (await weft.alerts.list({ limit: shownMax })).items,
    refetchInterval: ({ state }) => ((state.data?.length ?? 0) > 0 ? followMs : false)
  }))
  const open = (alert: AlertWithSecret) => navigate(`/alerts/${alert.alert_id}`)
  const onSaved = (alert: AlertWithSecret) => {
    void client.invalidateQueries({ queryKey: ["alerts"] })
    // Only webhooks need the secret.
    if (alert.actions.some(({ type }) => type === "webhook")) setCreated(alert)
    else open(alert)
  }
  const done = () => {
    const alert = created()
    setCreated(null)
    if (alert !== null) open(alert)
  }
  const createButton = () => (
    <button type="button" class="button primary" onClick={() => setCreating(true)}>
      <Icon name="plus" />
      {t().alerts.create}
    </button>
  )
  return (
    <div class="page">
      <div class="page-head">
        <h1>{t().alerts.title}</h1>
        <div class="actions">{createButton()}</div>
      </div>
      <p class="muted">{t().alerts.intro}</p>
      <Show when={alerts.error}>
        {(error) => <ErrorNotice error={error()} onRetry={() => void alerts.refetch()} />}
      </Show>
      <Show when={alerts.data}>{(data) => <AlertTable alerts={data()} />}</Show>
      <Show when={isCreating()}>
        <AlertForm edited={null} onClose={() => setCreating(false)} onSaved={onSaved} />
      </Show>
      <OnceDialog
        secret={created()?.webhook_secret ?? null}
        title={t().alerts.secretTitle}
        text={t().alerts.secretText}
        onClose={done}
      />
    </div>
  )
}

const AlertTable = (props: { readonly alerts: ReadonlyArray<Alert> }): JSX.Element => (
  <section class="card" aria-label={t().alerts.table}>
    <Show when={props.alerts.length > 0} fallback={<Empty title={t().alerts.emptyTitle} text={t().alerts.empty} />}>
      <div class="table-wrap">
        <table class="table alerts-table">
          <thead>
            <tr>
              <th scope="col">{t().alerts.state}</th>
              <th scope="col">{t().alerts.rule}</th>
              <th scope="col" class="wide-only">
                {t().alerts.of}
              </th>
              <th scope="col" class="wide-only">
                {t().alerts.condition}
              </th>
              <th scope="col">{t().alerts.value}</th>
              <th scope="col" class="wide-only">
                {t().alerts.since}
              </th>
            </tr>
          </thead>
          <tbody>
            <For each={props.alerts}>
              {(alert) => (
                <tr>
                  <td>
                    <AlertBadge alert={alert} />
                  </td>
                  <td>
                    <A href={`/alerts/${alert.alert_id}`}>{alert.name}</A>
                  </td>
                  <td class="wide-only" classList={{ mono: alert.ns !== null }}>
                    {scopeOf(alert)}
                  </td>
                  <td class="wide-only muted">{conditionOf(alert)}</td>
                  <td class="number">{valueOf(alert)}</td>
                  <td class="wide-only muted">
                    <Instant at={alert.since} />
                  </td>
                </tr>
              )}
            </For>
          </tbody>
        </table>
      </div>
    </Show>
  </section>
)
