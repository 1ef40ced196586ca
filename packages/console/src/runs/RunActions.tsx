/** Actions on a run: replay, cancel, wake, and the same for other programs as commands. */
import { DropdownMenu } from "@kobalte/core/dropdown-menu"
import { useQueryClient } from "@tanstack/solid-query"
import type { Run } from "@weft/client"
import { createSignal, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { apiOrigin } from "../api/consoleUrl.ts"
import { Confirm } from "../design/Confirm.tsx"
import { copyText } from "../design/CopyButton.tsx"
import { Icon } from "../design/Icon.tsx"
import { showToast } from "../design/Toasts.tsx"
import { t } from "../text/Language.ts"
import { ReplayDialog } from "./ReplayDialog.tsx"

type Asked = "replay" | "cancel" | null

export const RunActions = (props: { readonly run: Run; readonly onReplayed: (runId: string) => void }): JSX.Element => {
  const client = useQueryClient()
  const [asked, setAsked] = createSignal<Asked>(null)
  const [cleanup, setCleanup] = createSignal(false)
  const refresh = () => client.invalidateQueries({ queryKey: ["run", props.run.run_id] })
  const cancel = async () => {
    await weft.runs.cancel(props.run.run_id, cleanup() ? { cleanup: true } : undefined)
    await refresh()
  }
  return (
    <>
      <CopyMenu runId={props.run.run_id} />
      <Show when={props.run.waiting?.for === "timer"}>
        <button
          type="button"
          class="button"
          title={`weft runs wake ${props.run.run_id}`}
          onClick={() => void weft.runs.wake(props.run.run_id).then(refresh)}
        >
          {t().run.wake}
        </button>
      </Show>
      <Show when={props.run.status === "running"}>
        <button type="button" class="button danger" onClick={() => setAsked("cancel")}>
          <Icon name="stop" />
          {t().run.cancel}
        </button>
      </Show>
      <Show when={props.run.event_id !== null}>
        <button type="button" class="button primary" onClick={() => setAsked("replay")}>
          <Icon name="replay" />
          {t().run.replay}
        </button>
      </Show>
      <ReplayDialog
        run={props.run}
        isOpen={asked() === "replay"}
        onClose={() => setAsked(null)}
        onReplayed={props.onReplayed}
      />
      <Confirm
        isOpen={asked() === "cancel"}
        onClose={() => setAsked(null)}
        title={t().run.cancelTitle}
        text={t().run.cancelText}
        action={t().run.cancelTitle}
        command={`weft runs cancel ${props.run.run_id}${cleanup() ? " --cleanup 30s" : ""}`}
        isDanger
        onConfirm={cancel}
      >
        <Show when={props.run.durable}>
          <label class="check">
            <input type="checkbox" checked={cleanup()} onChange={(event) => setCleanup(event.currentTarget.checked)} />
            {t().run.cancelCleanup}
          </label>
        </Show>
      </Confirm>
    </>
  )
}

const CopyMenu = (props: { readonly runId: string }): JSX.Element => {
  const copy = (text: string) => void copyText(text).then(() => showToast(t().common.copied))
  return (
    <DropdownMenu placement="bottom-end">
      <DropdownMenu.Trigger class="button">
        {t().run.copyAs}
        <Icon name="down" />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content class="menu">
          <DropdownMenu.Item
            class="menu-item"
            onSelect={() => copy(`curl -H "Authorization: Bearer $KEY" ${apiOrigin}/v1/runs/${props.runId}`)}
          >
            {t().run.copyCurl}
          </DropdownMenu.Item>
          <DropdownMenu.Item class="menu-item" onSelect={() => copy(`weft runs show ${props.runId}`)}>
            {t().run.copyCli}
          </DropdownMenu.Item>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu>
  )
}
