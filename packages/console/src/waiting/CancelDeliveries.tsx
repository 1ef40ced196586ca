/** Cancels pending deliveries that match filters. */
import { createSignal, type JSX } from "solid-js"
import { weft } from "../api/client.ts"
import { Confirm } from "../design/Confirm.tsx"
import { shellWord } from "../design/shellCommand.ts"
import { TextField } from "../design/TextField.tsx"
import { showToast } from "../design/Toasts.tsx"
import { t } from "../text/Language.ts"

export const CancelDeliveries = (props: { readonly isOpen: boolean; readonly onClose: () => void }): JSX.Element => {
  const [project, setProject] = createSignal("")
  const [fn, setFn] = createSignal("")
  const [type, setType] = createSignal("")
  const orUndefined = (text: string) => (text.trim() === "" ? undefined : text.trim())
  const cancel = async () => {
    const { cancelled } = await weft.deliveries.cancel({
      project: orUndefined(project()),
      fn: orUndefined(fn()),
      event_type: orUndefined(type())
    })
    showToast(t().waiting.cancelledCount(cancelled))
  }
  const command = () =>
    [
      "weft deliveries cancel",
      ...flag("project", project()),
      ...flag("function", fn()),
      ...flag("event-type", type())
    ].join(" ")
  return (
    <Confirm
      isOpen={props.isOpen}
      onClose={props.onClose}
      title={t().waiting.cancelTitle}
      text={t().waiting.cancelText}
      action={t().waiting.cancel}
      command={command()}
      isDanger
      onConfirm={cancel}
    >
      <TextField label={t().waiting.project} placeholder="shop" value={project()} onInput={setProject} />
      <TextField label={t().waiting.function} placeholder="orders/confirm" value={fn()} onInput={setFn} />
      <TextField label={t().waiting.eventType} placeholder="order:created" value={type()} onInput={setType} />
    </Confirm>
  )
}

const flag = (name: string, value: string): ReadonlyArray<string> =>
  value.trim() === "" ? [] : [`--${name} ${shellWord(value.trim())}`]
