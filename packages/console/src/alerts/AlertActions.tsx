/** Actions on an alert rule: test, edit, switch on and off, delete. */
import { useNavigate } from "@solidjs/router"
import { useQueryClient } from "@tanstack/solid-query"
import type { Alert, AlertTest, AlertWithSecret } from "@weft/client"
import { createSignal, For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { Confirm } from "../design/Confirm.tsx"
import { OnceDialog } from "../design/OnceDialog.tsx"
import { curlCommand } from "../design/shellCommand.ts"
import { showToast } from "../design/Toasts.tsx"
import { t } from "../text/Language.ts"
import { AlertForm } from "./AlertForm.tsx"
import { actionOf } from "./AlertText.ts"

type Asked = "edit" | "switch" | "test" | "remove" | null

export const AlertActions = (props: { readonly alert: Alert }): JSX.Element => {
  const client = useQueryClient()
  const [asked, setAsked] = createSignal<Asked>(null)
  const [changed, setChanged] = createSignal<AlertWithSecret | null>(null)
  const close = () => setAsked(null)
  const onSaved = (saved: AlertWithSecret) => {
    void client.invalidateQueries({ queryKey: ["alerts"] })
    // Only webhooks need the secret.
    if (saved.actions.some(({ type }) => type === "webhook")) setChanged(saved)
  }
  return (
    <>
      <button type="button" class="button" onClick={() => setAsked("test")}>
        {t().alerts.test}
      </button>
      <button type="button" class="button" onClick={() => setAsked("switch")}>
        {props.alert.enabled ? t().alerts.disable : t().alerts.enable}
      </button>
      <button type="button" class="button danger" onClick={() => setAsked("remove")}>
        {t().alerts.remove}
      </button>
      <button type="button" class="button primary" onClick={() => setAsked("edit")}>
        {t().alerts.edit}
      </button>
      <Show when={asked() === "edit"}>
        <AlertForm edited={props.alert} onClose={close} onSaved={onSaved} />
      </Show>
      <SwitchDialog alert={props.alert} isOpen={asked() === "switch"} onClose={close} />
      <TestDialogs alert={props.alert} isOpen={asked() === "test"} onClose={close} />
      <RemoveDialog alert={props.alert} isOpen={asked() === "remove"} onClose={close} />
      <OnceDialog
        secret={changed()?.webhook_secret ?? null}
        title={t().alerts.secretTitle}
        text={t().alerts.secretText}
        onClose={() => setChanged(null)}
      />
    </>
  )
}

interface DialogProps {
  readonly alert: Alert
  readonly isOpen: boolean
  readonly onClose: () => void
}

const SwitchDialog = (props: DialogProps): JSX.Element => {
  const client = useQueryClient()
  const action = () => (props.alert.enabled ? t().alerts.disable : t().alerts.enable)
  const change = () => ({ enabled: !props.alert.enabled })
  const toggle = async () => {
    await weft.alerts.update(props.alert.alert_id, change())
    showToast(t().alerts.saved)
    // The texts of the dialog change with the rule, so the dialog closes first.
    void client.invalidateQueries({ queryKey: ["alerts"] })
  }
  return (
    <Confirm
      isOpen={props.isOpen}
      onClose={props.onClose}
      title={action()}
      text={props.alert.enabled ? t().alerts.disableText : t().alerts.enableText}
      action={action()}
      command={curlCommand("PATCH", `/alerts/${props.alert.alert_id}`, change())}
      onConfirm={toggle}
    />
  )
}

const RemoveDialog = (props: DialogProps): JSX.Element => {
  const client = useQueryClient()
  const navigate = useNavigate()
  const remove = async () => {
    await weft.alerts.remove(props.alert.alert_id)
    showToast(t().alerts.removed)
    navigate("/alerts")
    // The record of this rule, which no longer exists, must not be read again.
    await client.invalidateQueries({ queryKey: ["alerts"], exact: true })
  }
  return (
    <Confirm
      isOpen={props.isOpen}
      onClose={props.onClose}
      title={t().alerts.removeTitle}
      text={t().alerts.removeText}
      action={t().alerts.remove}
      command={`weft alerts delete ${props.alert.alert_id}`}
      isDanger
      onConfirm={remove}
    />
  )
}

/** Asks before a test, and shows its results. */
const TestDialogs = (props: DialogProps): JSX.Element => {
  const client = useQueryClient()
  const [tested, setTested] = createSignal<AlertTest | null>(null)
  const test = async () => {
    setTested(await weft.alerts.test(props.alert.alert_id))
    await client.invalidateQueries({ queryKey: ["alerts"] })
  }
  return (
    <>
      <Confirm
        isOpen={props.isOpen}
        onClose={props.onClose}
        title={t().alerts.testTitle}
        text={t().alerts.testText}
        action={t().alerts.test}
        command={`weft alerts test ${props.alert.alert_id}`}
        onConfirm={test}
      />
      <OnceDialog
        secret={tested()?.webhook_secret ?? null}
        title={t().alerts.testResults}
        text={t().alerts.secretText}
        onClose={() => setTested(null)}
      >
        <TestResults results={tested()?.results ?? []} />
      </OnceDialog>
    </>
  )
}

const TestResults = (props: { readonly results: AlertTest["results"] }): JSX.Element => (
  <ul class="test-results">
    <For each={props.results}>
      {({ action, error }) => (
        <li>
          <span class={`badge ${error === null ? "succeeded" : "failed"}`}>
            {error === null ? t().alerts.ok : t().status.failed}
          </span>
          <span>
            {actionOf(action)}
            <Show when={error}>{(message) => <span class="failed-text"> {message()}</span>}</Show>
          </span>
        </li>
      )}
    </For>
  </ul>
)
