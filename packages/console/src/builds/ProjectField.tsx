/** An input for the name of a project, which suggests existing ones. */
import { createUniqueId, For, type JSX } from "solid-js"
import { dataOf } from "../api/queries.ts"
import { t } from "../text/Language.ts"
import { useProjects } from "./useBuilds.ts"

export const ProjectField = (props: {
  readonly value: string
  readonly onInput: (value: string) => void
}): JSX.Element => {
  const projects = useProjects()
  const list = createUniqueId()
  return (
    <label class="field">
      <span>{t().waiting.project}</span>
      <input
        class="input mono"
        required
        list={list}
        placeholder="shop"
        value={props.value}
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
      <datalist id={list}>
        <For each={dataOf(projects) ?? []}>{({ name }) => <option value={name} />}</For>
      </datalist>
    </label>
  )
}
