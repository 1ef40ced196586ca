/** Replays a run, with the data of its event or with other data. */
import { useQuery } from "@tanstack/solid-query"
import type { Run } from "@weft/client"
import { createSignal, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { dataOf } from "../api/queries.ts"
import { Confirm } from "../design/Confirm.tsx"
import { shellWord } from "../design/shellCommand.ts"
import { showToast } from "../design/Toasts.tsx"
import { t } from "../text/Language.ts"
import { parseJson } from "../text/parseJson.ts"
import { BuildChoice, type ReplayBuild } from "./BuildChoice.tsx"

interface ReplayProps {
  readonly run: Run
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onReplayed: (runId: string) => void
}

export const ReplayDialog = (props: ReplayProps): JSX.Element => {
  const [build, setBuild] = createSignal<ReplayBuild>("deployed")
  const [isEdited, setEdited] = createSignal(false)
  const [typed, setTyped] = createSignal<string>()
  const event = useQuery(() => ({
    queryKey: ["event", props.run.event_id],
    queryFn: () => weft.events.get(props.run.event_id ?? ""),
    enabled: props.isOpen && isEdited(),
    staleTime: Number.POSITIVE_INFINITY
  }))
  const data = () => typed() ?? JSON.stringify(dataOf(event)?.event_data, null, 2) ?? ""
  const replay = async () => {
    const other = isEdited() ? { event_data: parseJson(data()) } : {}
    const started = await weft.runs.replay(props.run.run_id, { build: build(), ...other })
    showToast(t().run.replayed)
    if ("run_id" in started) props.onReplayed(started.run_id)
  }
  const command = () => {
    const other = isEdited() ? ` --data ${shellWord(data())}` : ""
    return `weft runs replay ${props.run.run_id} --build ${build()}${other}`
  }
  return (
    <Confirm
      isOpen={props.isOpen}
      onClose={props.onClose}
      title={t().run.replayTitle}
      text={isEdited() ? t().run.replayEditText : t().run.replayText}
      action={t().run.replay}
      command={command()}
      isDisabled={isEdited() && data() === ""}
      onConfirm={replay}
    >
      <BuildChoice value={build()} onChange={setBuild} same={t().run.replaySame} />
      <label class="check">
        <input type="checkbox" checked={isEdited()} onChange={(input) => setEdited(input.currentTarget.checked)} />
        {t().run.replayEdit}
      </label>
      <Show when={isEdited()}>
        <label class="field">
          <span>{t().run.replayData}</span>
          <textarea
            class="input"
            spellcheck={false}
            value={data()}
            onInput={(input) => setTyped(input.currentTarget.value)}
          />
        </label>
      </Show>
    </Confirm>
  )
}
