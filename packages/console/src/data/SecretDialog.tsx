/** Sets or replaces a secret. Its value leaves the page with the request and is not kept. */
import { createEffect, createSignal, type JSX } from "solid-js"
import { weft } from "../api/client.ts"
import { Confirm } from "../design/Confirm.tsx"
import { shellWord } from "../design/shellCommand.ts"
import { showToast } from "../design/Toasts.tsx"
import { t } from "../text/Language.ts"

export const SecretDialog = (props: {
  readonly project: string
  /** The key to replace, empty for a new one, and null while the dialog is closed. */
  readonly edited: string | null
  readonly known: ReadonlyArray<string>
  readonly onClose: () => void
  readonly onSaved: () => void
}): JSX.Element => {
  const [key, setKey] = createSignal("")
  const [value, setValue] = createSignal("")
  const [description, setDescription] = createSignal("")
  createEffect(() => {
    setKey(props.edited ?? "")
    setValue("")
    setDescription("")
  })
  const save = async () => {
    const described = description() === "" ? {} : { description: description() }
    const isKnown = props.known.includes(key())
    if (isKnown) await weft.context.update(props.project, key(), { value: value(), ...described })
    else await weft.context.create(props.project, { key: key(), value: value(), ...described })
    setValue("")
    props.onSaved()
    showToast(t().secrets.saved)
  }
  return (
    <Confirm
      isOpen={props.edited !== null}
      onClose={props.onClose}
      title={t().secrets.set}
      text={t().secrets.setText}
      action={t().secrets.set}
      command={`weft context set ${shellWord(key() || "GITHUB_TOKEN")} --project ${shellWord(props.project)}`}
      onConfirm={save}
    >
      <label class="field">
        <span>{t().secrets.key}</span>
        <input
          class="input mono"
          required
          placeholder="GITHUB_TOKEN"
          value={key()}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
      </label>
      <label class="field">
        <span>{t().secrets.value}</span>
        <input
          class="input"
          type="password"
          autocomplete="off"
          required
          value={value()}
          onInput={(event) => setValue(event.currentTarget.value)}
        />
      </label>
      <label class="field">
        <span>{t().secrets.description}</span>
        <input class="input" value={description()} onInput={(event) => setDescription(event.currentTarget.value)} />
      </label>
    </Confirm>
  )
}
