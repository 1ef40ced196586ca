/** Suspended runs with the reasons of their waits, and a form that cancels pending deliveries. */
import { A } from "@solidjs/router"
import type { Run } from "@weft/client"
import { createSignal, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { Empty } from "../design/Feedback.tsx"
import { Icon } from "../design/Icon.tsx"
import { PagedTable } from "../design/PagedTable.tsx"
import { NewerButton } from "../live/NewerButton.tsx"
import { functionName } from "../runs/RunCells.tsx"
import { formatInstant } from "../text/format.ts"
import { t } from "../text/Language.ts"
import { CancelDeliveries } from "./CancelDeliveries.tsx"
import "./waiting.css"

export default function WaitingPage(): JSX.Element {
  const [refreshes, setRefreshes] = createSignal(0)
  const [isCancelling, setCancelling] = createSignal(false)
  const version = () => String(refreshes())
  return (
    <div class="page tall">
      <div class="page-head">
        <h1>{t().waiting.title}</h1>
        <div class="actions">
          <NewerButton event="run:waiting" version={version()} onShow={() => setRefreshes(refreshes() + 1)} />
          <button type="button" class="button" onClick={() => setCancelling(true)}>
            <Icon name="stop" />
            {t().waiting.cancel}
          </button>
        </div>
      </div>
      <p class="muted">{t().waiting.intro}</p>
      <PagedTable<Run>
        label={t().waiting.table}
        columns="waiting-columns"
        headers={[t().waiting.reason, t().waiting.name, t().overview.function, t().waiting.since, t().waiting.until]}
        version={version()}
        load={async (offset, limit, signal) =>
          await weft.runs.list({ waiting: "any", include: "usage", limit, offset }, { signal })
        }
        row={(run) => <WaitingCells run={run} />}
        empty={<Empty title={t().waiting.emptyTitle} text={t().waiting.empty} />}
      />
      <CancelDeliveries isOpen={isCancelling()} onClose={() => setCancelling(false)} />
    </div>
  )
}

const WaitingCells = (props: { readonly run: Run }): JSX.Element => (
  <Show when={props.run.waiting}>
    {(waiting) => (
      <>
        <span role="cell" class="cut">
          <span class="badge waiting">{t().waits[waiting().for] ?? waiting().for}</span>
        </span>
        <span role="cell" class="cut">
          <A class="row-link" href={`/runs/${props.run.run_id}`}>
            {waiting().name}
          </A>
        </span>
        <span role="cell" class="cut mono muted">
          {functionName(props.run)}
        </span>
        <span role="cell" class="cut muted">
          {formatInstant(waiting().since)}
        </span>
        <span role="cell" class="cut muted">
          {untilOf(waiting().until)}
        </span>
      </>
    )}
  </Show>
)

const untilOf = (until: string | null): string => (until === null ? t().waiting.noEnd : formatInstant(until))
