/** Actions on all runs that match the filters: cancel the running ones, replay the ended ones. */
import { createSignal, type JSX, Show } from "solid-js"
import { Icon } from "../design/Icon.tsx"
import { t } from "../text/Language.ts"
import { OperationDialog } from "./OperationDialog.tsx"
import type { RunFilters } from "./RunFilters.ts"
import { TextMatchDialog } from "./TextMatchDialog.tsx"

export type BulkKind = "cancel" | "replay"

export interface BulkProps {
  readonly filters: RunFilters
  readonly kind: BulkKind
  readonly onClose: () => void
  readonly onDone: () => void
}

export const BulkActions = (props: { readonly filters: RunFilters; readonly onDone: () => void }): JSX.Element => {
  const [asked, setAsked] = createSignal<BulkKind | null>(null)
  return (
    <>
      <button type="button" class="button" onClick={() => setAsked("cancel")}>
        <Icon name="stop" />
        {t().runs.cancelAll}
      </button>
      <button type="button" class="button" onClick={() => setAsked("replay")}>
        <Icon name="replay" />
        {t().runs.replayAll}
      </button>
      <Show when={asked()} keyed>
        {(kind) => {
          const dialog = { ...props, kind, onClose: () => setAsked(null) }
          // An operation has no filter for the text of errors.
          return props.filters.error === "" ? <OperationDialog {...dialog} /> : <TextMatchDialog {...dialog} />
        }}
      </Show>
    </>
  )
}
