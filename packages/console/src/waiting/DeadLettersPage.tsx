/** Deliveries whose last attempt failed, with a form that redrives and one that discards them. */
import { A } from "@solidjs/router"
import type { DeadLetter } from "@weft/client"
import { createSignal, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { Empty } from "../design/Feedback.tsx"
import { Icon } from "../design/Icon.tsx"
import { PagedTable } from "../design/PagedTable.tsx"
import { NewerButton } from "../live/NewerButton.tsx"
import { formatInstant } from "../text/format.ts"
import { t } from "../text/Language.ts"
import { type LettersAction, LettersDialog } from "./LettersDialog.tsx"
import { WaitingFrame } from "./WaitingFrame.tsx"

export default function DeadLettersPage(): JSX.Element {
  const [refreshes, setRefreshes] = createSignal(0)
  const [action, setAction] = createSignal<LettersAction | null>(null)
  const version = () => String(refreshes())
  const refresh = () => setRefreshes(refreshes() + 1)
  return (
    <WaitingFrame
      isTall
      intro={t().deadLetters.intro}
      actions={
        <>
          <NewerButton event="event:handled" version={version()} onShow={refresh} />
          <button type="button" class="button" onClick={() => setAction("discard")}>
            {t().deadLetters.discard}
          </button>
          <button type="button" class="button primary" onClick={() => setAction("redrive")}>
            <Icon name="replay" />
            {t().deadLetters.redrive}
          </button>
        </>
      }
    >
      <PagedTable<DeadLetter>
        label={t().deadLetters.table}
        columns="letter-columns"
        headers={[t().waiting.since, t().overview.function, t().waiting.eventType, t().deadLetters.error]}
        version={version()}
        load={async (offset, limit, signal) => await weft.deadLetters.list({ limit, offset }, { signal })}
        row={(letter) => <LetterCells letter={letter} />}
        empty={<Empty title={t().deadLetters.emptyTitle} text={t().deadLetters.empty} />}
      />
      <Show when={action()}>
        {(chosen) => (
          <LettersDialog
            action={chosen()}
            onClose={() => {
              setAction(null)
              refresh()
            }}
          />
        )}
      </Show>
    </WaitingFrame>
  )
}

const LetterCells = (props: { readonly letter: DeadLetter }): JSX.Element => (
  <>
    <span role="cell" class="cut muted">
      {formatInstant(props.letter.dead_since)}
    </span>
    <span role="cell" class="cut">
      <A class="row-link mono" href={`/runs/${props.letter.run_id}`}>
        {`${props.letter.ns}/${props.letter.var}`}
      </A>
    </span>
    <span role="cell" class="cut mono muted">
      {props.letter.event_type}
    </span>
    <span role="cell" class="cut mono muted">
      {props.letter.error === null ? "" : `${props.letter.error.name}: ${props.letter.error.message}`}
    </span>
  </>
)
