/** Pauses a function, a project or the environment. */
import { createSignal, For, type JSX, Match, Switch } from "solid-js"
import { weft } from "../api/client.ts"
import { ProjectField } from "../builds/ProjectField.tsx"
import { Confirm } from "../design/Confirm.tsx"
import { shellWord } from "../design/shellCommand.ts"
import { TextField } from "../design/TextField.tsx"
import { showToast } from "../design/Toasts.tsx"
import { t } from "../text/Language.ts"

const scopes = ["function", "project", "environment"] as const
const ticks = ["late", "skip"] as const

type Scope = (typeof scopes)[number]
type Ticks = (typeof ticks)[number]

export const PauseDialog = (props: { readonly onClose: () => void }): JSX.Element => {
  const [scope, setScope] = createSignal<Scope>("function")
  const [project, setProject] = createSignal("")
  const [fn, setFn] = createSignal("")
  const [schedules, setSchedules] = createSignal<Ticks>("late")
  const pause = async () => {
    await weft.pauses.create({
      ...(scope() === "environment" ? {} : { project: project().trim() }),
      ...(scope() === "function" ? { fn: fn().trim() } : {}),
      schedules: schedules()
    })
    showToast(t().pauses.paused)
  }
  const command = () => {
    const flags = schedules() === "late" ? "" : " --schedules skip"
    if (scope() === "environment") return `weft pause --all${flags}`
    const name = project().trim() || "shop"
    if (scope() === "project") return `weft pause --project ${shellWord(name)}${flags}`
    return `weft pause ${shellWord(`${name}:${fn().trim() || "orders/confirm"}`)}${flags}`
  }
  return (
    <Confirm
      isOpen
      onClose={props.onClose}
      title={t().pauses.pauseTitle}
      text={t().pauses.pauseText}
      action={t().pauses.pause}
      command={command()}
      isDanger
      isDisabled={
        (scope() !== "environment" && project().trim() === "") || (scope() === "function" && fn().trim() === "")
      }
      onConfirm={pause}
    >
      <fieldset class="options">
        <legend>{t().pauses.scope}</legend>
        <For each={scopes}>
          {(each) => (
            <label class="check">
              <input type="radio" name="scope" checked={scope() === each} onChange={() => setScope(each)} />
              {t().pauses.scopes[each]}
            </label>
          )}
        </For>
      </fieldset>
      <Switch>
        <Match when={scope() === "project"}>
          <ProjectField value={project()} onInput={setProject} />
        </Match>
        <Match when={scope() === "function"}>
          <ProjectField value={project()} onInput={setProject} />
          <TextField label={t().waiting.function} placeholder="orders/confirm" value={fn()} onInput={setFn} />
        </Match>
      </Switch>
      <label class="field">
        <span>{t().pauses.schedules}</span>
        <select
          class="input"
          onChange={({ currentTarget }) => setSchedules(currentTarget.value === "skip" ? "skip" : "late")}
        >
          <For each={ticks}>{(each) => <option value={each}>{t().pauses[each]}</option>}</For>
        </select>
      </label>
    </Confirm>
  )
}
