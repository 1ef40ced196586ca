/** The cells with the start and the end of a wait. */
import type { JSX } from "solid-js"
import { formatInstant } from "../text/format.ts"
import { t } from "../text/Language.ts"

export const PeriodCells = (props: {
  readonly since: string
  /** Null for a wait without an end. */
  readonly until: string | null
}): JSX.Element => (
  <>
    <span role="cell" class="cut muted">
      {formatInstant(props.since)}
    </span>
    <span role="cell" class="cut muted">
      {props.until === null ? t().waiting.noEnd : formatInstant(props.until)}
    </span>
  </>
)
