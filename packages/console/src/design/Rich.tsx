/** A text whose parts between backticks are code. */
import { For, type JSX } from "solid-js"

export const Rich = (props: { readonly text: string }): JSX.Element => (
  <For each={props.text.split("`")}>{(part, index) => (index() % 2 === 1 ? <code>{part}</code> : part)}</For>
)
