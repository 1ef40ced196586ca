/** Creates a service key, and shows its token once. */
import { createSignal, For, type JSX } from "solid-js"
import { weft } from "../api/client.ts"
import { Confirm } from "../design/Confirm.tsx"
import { OnceDialog } from "../design/OnceDialog.tsx"
import { shellWord } from "../design/shellCommand.ts"
import { t } from "../text/Language.ts"
import { PermissionTags } from "./AccessPage.tsx"
import { combine, type PresetName } from "./presets.ts"

const presetNames = [
  "readOnly",
  "events",
  "builds",
  "context",
  "webhooks",
  "mcp"
] as const satisfies ReadonlyArray<PresetName>

export const CreateKeyDialog = (props: { readonly isOpen: boolean; readonly onClose: () => void }): JSX.Element => {
  const [name, setName] = createSignal("")
  const [chosen, setChosen] = createSignal<ReadonlyArray<PresetName>>([])
  const [lifetime, setLifetime] = createSignal("never")
  const [token, setToken] = createSignal<string | null>(null)
  const create = async () => {
    if (chosen().length === 0) throw new Error(t().access.nonePermitted)
    const expires = lifetime() === "never" ? null : Number(lifetime())
    const created = await weft.serviceKeys.create({ name: name(), permissions: combine(chosen()), expires_in: expires })
    setToken(created.token)
    setName("")
    setChosen([])
  }
  const command = () => {
    const named = name() === "" ? "" : ` --name ${shellWord(name())}`
    const allowed = Object.entries(combine(chosen())).map(
      ([resource, actions]) => ` --allow ${shellWord(`${resource}=${actions.join(",")}`)}`
    )
    const days = lifetime() === "never" ? "" : ` --expires ${Number(lifetime()) / 86_400}d`
    return `weft keys create${named}${allowed.join("")}${days}`
  }
  const toggle = (preset: PresetName, isOn: boolean) =>
    setChosen(isOn ? [...chosen(), preset] : chosen().filter((one) => one !== preset))
  return (
    <>
      <Confirm
        isOpen={props.isOpen && token() === null}
        onClose={() => token() === null && props.onClose()}
        title={t().access.createTitle}
        action={t().access.create}
        command={command()}
        onConfirm={create}
      >
        <label class="field">
          <span>{t().access.name}</span>
          <input class="input" maxlength={128} value={name()} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <fieldset class="options">
          <legend class="legend-text">{t().access.permissions}</legend>
          <For each={presetNames}>
            {(preset) => (
              <label class="check">
                <input
                  type="checkbox"
                  checked={chosen().includes(preset)}
                  onChange={(event) => toggle(preset, event.currentTarget.checked)}
                />
                {t().access.presets[preset]}
              </label>
            )}
          </For>
        </fieldset>
        <PermissionTags permissions={combine(chosen())} />
        <p class="muted small">{t().access.presetHint}</p>
        <label class="field">
          <span>{t().access.lifetime}</span>
          <select class="input" onChange={(event) => setLifetime(event.currentTarget.value)}>
            <For each={["never", "86400", "2592000", "31536000"]}>
              {(value) => (
                <option value={value} selected={value === lifetime()}>
                  {t().access.lifetimes[value]}
                </option>
              )}
            </For>
          </select>
        </label>
      </Confirm>
      <OnceDialog
        secret={token()}
        title={t().access.tokenTitle}
        text={t().access.tokenText}
        onClose={() => {
          setToken(null)
          props.onClose()
        }}
      />
    </>
  )
}
