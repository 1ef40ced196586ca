/** Number of runs that an action affects, before it happens. */
import { type JSX, Show } from "solid-js"
import { ErrorNotice } from "../design/Feedback.tsx"
import { t } from "../text/Language.ts"
import type { BulkKind } from "./BulkActions.tsx"

export const MatchCount = (props: {
  readonly kind: BulkKind
  /** Undefined until they are counted. */
  readonly count: number | undefined
  readonly error: unknown
}): JSX.Element => {
  const text = () => {
    if (props.count === undefined) return `${t().common.loading} …`
    return props.kind === "cancel" ? t().runs.cancelMatches(props.count) : t().runs.replayMatches(props.count)
  }
  return (
    <Show when={!props.error} fallback={<ErrorNotice error={props.error} />}>
      <p role="status">
        <strong>{text()}</strong>
      </p>
    </Show>
  )
}
