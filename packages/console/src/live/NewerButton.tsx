/** Offers rows that arrived since the list was loaded. To insert them would move the rows that a person reads. */
import type { EnvironmentMessage } from "@weft/client"
import { createEffect, createSignal, type JSX, on, Show } from "solid-js"
import { Icon } from "../design/Icon.tsx"
import { formatCount } from "../text/format.ts"
import { t } from "../text/Language.ts"
import { onActivity } from "./Live.ts"

export const NewerButton = (props: {
  /** Message about a new row. */
  readonly event: EnvironmentMessage["event"]
  /** Changes when the list is loaded again. */
  readonly version: string
  readonly onShow: () => void
}): JSX.Element => {
  const [count, setCount] = createSignal(0)
  createEffect(
    on(
      () => props.version,
      () => setCount(0)
    )
  )
  onActivity((messages) => {
    const arrived = messages.filter(({ event }) => event === props.event).length
    if (arrived > 0) setCount(count() + arrived)
  })
  return (
    <Show when={count() > 0}>
      <button type="button" class="button" onClick={props.onShow}>
        <Icon name="replay" />
        {t().runs.newer(formatCount(count()))}
      </button>
    </Show>
  )
}
