/** One stream: its messages, while they arrive. */
import { A, useParams } from "@solidjs/router"
import type { Json, StreamMessage } from "@weft/client"
import { createSignal, For, type JSX, Show } from "solid-js"
import { apiOrigin } from "../api/consoleUrl.ts"
import { CommandHint } from "../design/CommandHint.tsx"
import { CopyButton } from "../design/CopyButton.tsx"
import { DataTree } from "../design/DataTree.tsx"
import { ErrorNotice } from "../design/Feedback.tsx"
import { Icon } from "../design/Icon.tsx"
import { PublishDialog } from "../events/PublishDialog.tsx"
import { formatPreciseTime } from "../text/format.ts"
import { t } from "../text/Language.ts"
import { type ReceivedMessage, useStreamMessages } from "./useStreamMessages.ts"
import "./streams.css"

export default function StreamPage(): JSX.Element {
  const params = useParams<{ id: string }>()
  const [isPublishing, setPublishing] = createSignal(false)
  const { messages, state, error, clear } = useStreamMessages(() => params.id)
  return (
    <div class="page">
      <A class="crumb" href="/streams">
        ← {t().streams.title}
      </A>
      <div class="page-head">
        <h1>{t().streams.stream}</h1>
        <span class={`live ${state()}`} role="status">
          {t().app.live[state()]}
        </span>
        <div class="actions">
          <button type="button" class="button" disabled={messages().length === 0} onClick={clear}>
            <Icon name="close" />
            {t().streams.clear}
          </button>
          <button type="button" class="button primary" onClick={() => setPublishing(true)}>
            <Icon name="plus" />
            {t().streams.publish}
          </button>
        </div>
      </div>
      <p class="with-copy mono muted">
        {params.id}
        <CopyButton text={params.id} label={t().streams.id} />
      </p>
      <Show when={error()}>{(failure) => <ErrorNotice error={failure()} />}</Show>
      <section class="card" aria-labelledby="messages">
        <div class="card-head">
          <h2 id="messages">{t().streams.messages}</h2>
        </div>
        <Show when={messages().length > 0} fallback={<p class="card-body muted">{t().streams.silent}</p>}>
          <ol class="messages" tabindex="0" aria-labelledby="messages">
            <For each={messages()}>{(received) => <MessageRow received={received} />}</For>
          </ol>
        </Show>
      </section>
      <div class="card">
        <CommandHint
          command={`curl -N -H "Authorization: Bearer $KEY" ${apiOrigin}/v1/streams/${params.id}/subscribe`}
        />
      </div>
      <PublishDialog
        isOpen={isPublishing()}
        onClose={() => setPublishing(false)}
        streamId={params.id}
        onPublished={() => undefined}
      />
    </div>
  )
}

const MessageRow = (props: { readonly received: ReceivedMessage }): JSX.Element => {
  const { message, at } = props.received
  const runId = runIdOf(message)
  return (
    <li>
      <details>
        <summary>
          <time class="muted" datetime={new Date(at).toISOString()}>
            {formatPreciseTime(new Date(at).toISOString())}
          </time>
          <span class={`badge ${badges[message.event] ?? "plain"}`}>{message.event}</span>
          <span class="cut mono">{summaryOf(message)}</span>
        </summary>
        <DataTree value={dataOf(message)} />
        <Show when={runId}>{(id) => <A href={`/runs/${id()}`}>{t().palette.openRun}</A>}</Show>
      </details>
    </li>
  )
}

const badges: Readonly<Record<string, string>> = {
  "run:start": "running",
  "run:stop": "succeeded",
  "run:fail": "failed",
  "run:waiting": "waiting"
}

/** Returns the fields of a message as JSON, which a tree shows. */
const dataOf = ({ data }: StreamMessage): Json => ("waiting" in data ? { ...data, waiting: { ...data.waiting } } : data)

const runIdOf = ({ data }: StreamMessage): string | null =>
  "run" in data ? data.run.run_id : "run_id" in data ? data.run_id : null

/** Characters of a message's data in its row. */
const excerptLength = 200

const summaryOf = ({ data }: StreamMessage): string => {
  switch (data.type) {
    case "stream:data":
      return `${data.data_type} ${JSON.stringify(data.payload).slice(0, excerptLength)}`
    case "run:step":
      return data.name
    case "run:waiting":
      return data.waiting.name
    case "stream:complete":
      return ""
    default:
      return data.run.result === undefined ? data.run.run_id : JSON.stringify(data.run.result).slice(0, excerptLength)
  }
}
