/** A dialog that asks before an action, and shows the server's refusal. */
import { Dialog } from "@kobalte/core/dialog"
import { createSignal, type JSX, Show } from "solid-js"
import { t } from "../text/Language.ts"
import { CommandHint } from "./CommandHint.tsx"
import { ErrorNotice } from "./Feedback.tsx"

export interface ConfirmProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly title: string
  readonly text?: string
  readonly action: string
  readonly isDanger?: boolean
  /** True while there is nothing to confirm. */
  readonly isDisabled?: boolean
  /** The command that does the same. */
  readonly command?: string
  /** The dialog closes when it resolves. */
  readonly onConfirm: () => Promise<void>
  readonly children?: JSX.Element
}

export const Confirm = (props: ConfirmProps): JSX.Element => {
  const [error, setError] = createSignal<unknown>()
  const [isBusy, setBusy] = createSignal(false)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    try {
      await props.onConfirm()
      props.onClose()
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  const close = () => {
    setError(undefined)
    props.onClose()
  }
  return (
    <Dialog open={props.isOpen} onOpenChange={(isOpen) => isOpen || close()}>
      <Dialog.Portal>
        <Dialog.Overlay class="overlay" />
        <div class="dialog-place">
          <Dialog.Content class="dialog">
            <form class="dialog-form" onSubmit={(event) => void submit(event)}>
              <Dialog.Title>{props.title}</Dialog.Title>
              <Show when={props.text}>{(text) => <Dialog.Description class="muted">{text()}</Dialog.Description>}</Show>
              {props.children}
              <Show when={error()}>{(failure) => <ErrorNotice error={failure()} />}</Show>
              <Show when={props.command}>{(command) => <CommandHint command={command()} />}</Show>
              <div class="dialog-actions">
                <button type="button" class="button" onClick={close}>
                  {t().common.cancel}
                </button>
                <button
                  type="submit"
                  class={`button ${props.isDanger === true ? "danger" : "primary"}`}
                  disabled={isBusy() || props.isDisabled === true}
                >
                  {props.action}
                </button>
              </div>
            </form>
          </Dialog.Content>
        </div>
      </Dialog.Portal>
    </Dialog>
  )
}
