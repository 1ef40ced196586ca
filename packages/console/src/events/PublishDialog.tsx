/** A form that publishes an event: its type, and its data as JSON, perhaps that of an earlier event. */
import { useQuery } from "@tanstack/solid-query"
import type { Event } from "@weft/client"
import { createSignal, For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { dataOf } from "../api/queries.ts"
import { Confirm } from "../design/Confirm.tsx"
import { shellWord } from "../design/shellCommand.ts"
import { formatInstant } from "../text/format.ts"
import { t } from "../text/Language.ts"
import { parseJson } from "../text/parseJson.ts"
import { useHandlers } from "./useHandlers.ts"

interface PublishProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onPublished: (event: Event) => void
  /** Stream of the event; a new one by default. */
  readonly streamId?: string
}

export const PublishDialog = (props: PublishProps): JSX.Element => {
  const [type, setType] = createSignal("")
  const [data, setData] = createSignal("{}")
  const publish = async () => {
    const stream = props.streamId === undefined ? {} : { stream_id: props.streamId }
    props.onPublished(await weft.events.publish({ event_type: type(), event_data: parseJson(data()), ...stream }))
  }
  const command = () => {
    const stream = props.streamId === undefined ? "" : ` --stream ${props.streamId}`
    return `weft events publish ${shellWord(type() || "order:created")} ${shellWord(data())}${stream}`
  }
  return (
    <Confirm
      isOpen={props.isOpen}
      onClose={props.onClose}
      title={t().events.publishTitle}
      action={t().events.publishSubmit}
      command={command()}
      onConfirm={publish}
    >
      <TypeField type={type()} onType={setType} />
      <EarlierData type={type()} onChoose={setData} />
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

/** Suggests the types that deployed functions handle. */
const TypeField = (props: { readonly type: string; readonly onType: (type: string) => void }): JSX.Element => {
  const handlers = useHandlers()
  const types = () => [...new Set((dataOf(handlers) ?? []).map(({ event_type }) => event_type))].sort()
  return (
    <label class="field">
      <span>{t().events.publishType}</span>
      <input
        class="input mono"
        required
        list="event-types"
        placeholder="order:created"
        value={props.type}
        onInput={(event) => props.onType(event.currentTarget.value)}
      />
      <datalist id="event-types">
        <For each={types()}>{(type) => <option value={type.replace(/\*$/, "")} />}</For>
      </datalist>
    </label>
  )
}

/** Latest events whose data can be used again. */
const eventsMax = 100

/** Offers the data of earlier events of the type. */
const EarlierData = (props: { readonly type: string; readonly onChoose: (data: string) => void }): JSX.Element => {
  const events = useQuery(() => ({
    queryKey: ["events", "latest"],
    queryFn: async () => (await weft.events.list({ limit: eventsMax })).items
  }))
  const earlier = () => (dataOf(events) ?? []).filter(({ event_type }) => event_type === props.type.trim())
  return (
    <Show when={earlier().length > 0}>
      <label class="field">
        <span>{t().events.earlier}</span>
        <select
          class="input"
          onChange={({ currentTarget }) => {
            const chosen = earlier().find(({ event_id }) => event_id === currentTarget.value)
            if (chosen !== undefined) props.onChoose(JSON.stringify(chosen.event_data, null, 2))
          }}
        >
          <option value="">{t().events.earlierChoose}</option>
          <For each={earlier()}>
            {(event) => (
              <option value={event.event_id}>{`${formatInstant(event.event_time)} · ${excerpt(event)}`}</option>
            )}
          </For>
        </select>
      </label>
    </Show>
  )
}

/** Characters of an event's data in an option. */
const excerptLength = 60

const excerpt = ({ event_data }: Event): string => JSON.stringify(event_data).slice(0, excerptLength)
