/** Suspended runs with the reasons of their waits. */
import { A } from "@solidjs/router"
import type { Run } from "@weft/client"
import { createSignal, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { Empty } from "../design/Feedback.tsx"
import { PagedTable } from "../design/PagedTable.tsx"
import { NewerButton } from "../live/NewerButton.tsx"
import { functionName } from "../runs/RunCells.tsx"
import { t } from "../text/Language.ts"
import { PeriodCells } from "./PeriodCells.tsx"
import { WaitingFrame } from "./WaitingFrame.tsx"

export default function WaitingPage(): JSX.Element {
  const [refreshes, setRefreshes] = createSignal(0)
  const version = () => String(refreshes())
  return (
    <WaitingFrame
      isTall
      intro={t().waiting.intro}
      actions={<NewerButton event="run:waiting" version={version()} onShow={() => setRefreshes(refreshes() + 1)} />}
    >
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
    </WaitingFrame>
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
        <PeriodCells since={waiting().since} until={waiting().until} />
      </>
    )}
  </Show>
)
