/** An input for a number, with its label. Its value is a text, so that it can be empty while a person types. */
import type { JSX } from "solid-js"

export const NumberField = (props: {
  readonly label: string
  readonly value: string
  readonly onInput: (value: string) => void
  readonly min?: number
  readonly max?: number
  /** `any` for fractions; whole numbers by default. */
  readonly step?: "any"
  readonly isOptional?: boolean
  readonly placeholder?: string
}): JSX.Element => (
  <label class="field">
    <span>{props.label}</span>
    <input
      class="input"
      type="number"
      required={props.isOptional !== true}
      min={props.min}
      max={props.max}
      step={props.step}
      placeholder={props.placeholder}
      value={props.value}
      onInput={(event) => props.onInput(event.currentTarget.value)}
    />
  </label>
)
