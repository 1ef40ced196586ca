/** A form that publishes an event. */
import type { Json } from "@weft/client"
import { createSignal, type JSX } from "solid-js"
import { weft } from "../api/client.ts"
import { shellWord } from "../design/CommandHint.tsx"
import { Confirm } from "../design/Confirm.tsx"
import { t } from "../text/Language.ts"

export const PublishDialog = (props: {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onPublished: (eventId: string) => void
}): JSX.Element => {
  const [type, setType] = createSignal("")
  const [data, setData] = createSignal("{}")
  const publish = async () => {
    const { event_id } = await weft.events.publish({ event_type: type(), event_data: parseJson(data()) })
    props.onPublished(event_id)
  }
  return (
    <Confirm
      isOpen={props.isOpen}
      onClose={props.onClose}
      title={t().events.publishTitle}
      action={t().events.publishSubmit}
      command={`weft events publish ${shellWord(type() || "order:created")} ${shellWord(data())}`}
      onConfirm={publish}
    >
      <label class="field">
        <span>{t().events.publishType}</span>
        <input
          class="input mono"
          required
          placeholder="order:created"
          value={type()}
          onInput={(event) => setType(event.currentTarget.value)}
        />
      </label>
      <label class="field">
        <span>{t().events.publishData}</span>
        <textarea
          class="input"
          spellcheck={false}
          value={data()}
          onInput={(event) => setData(event.currentTarget.value)}
        />
      </label>
    </Confirm>
  )
}

/** Parses JSON that a person typed. */
const parseJson = (text: string): Json => {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(t().events.invalidJson)
  }
}
