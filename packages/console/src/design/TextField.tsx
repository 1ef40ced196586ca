/** An input with its label, for names and other text of programs. */
import type { JSX } from "solid-js"

export const TextField = (props: {
  readonly label: string
  readonly value: string
  readonly onInput: (value: string) => void
  readonly placeholder?: string
  readonly isRequired?: boolean
}): JSX.Element => (
  <label class="field">
    <span>{props.label}</span>
    <input
      class="input mono"
      required={props.isRequired === true}
      placeholder={props.placeholder}
      value={props.value}
      onInput={(event) => props.onInput(event.currentTarget.value)}
    />
  </label>
)
