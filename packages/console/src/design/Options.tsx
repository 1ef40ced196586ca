/** A choice between a few values, as a list that opens, with its label. */
import { For, type JSX } from "solid-js"

export const Options = <T extends string | number>(props: {
  readonly label: string
  readonly values: ReadonlyArray<T>
  readonly value: T
  readonly nameOf: (value: T) => string
  readonly onChange: (value: T) => void
}): JSX.Element => {
  const choose = (index: number) => {
    const chosen = props.values[index]
    if (chosen !== undefined) props.onChange(chosen)
  }
  return (
    <label class="field">
      <span>{props.label}</span>
      <select class="input" onChange={({ currentTarget }) => choose(currentTarget.selectedIndex)}>
        <For each={props.values}>
          {(value) => (
            <option value={value} selected={value === props.value}>
              {props.nameOf(value)}
            </option>
          )}
        </For>
      </select>
    </label>
  )
}
