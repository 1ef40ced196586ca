/** The streams of the latest events, and the way to one of them. */
import { A, useNavigate } from "@solidjs/router"
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/solid-query"
import { createSignal, For, type JSX, Show } from "solid-js"
import { Empty, ErrorNotice } from "../design/Feedback.tsx"
import { Icon } from "../design/Icon.tsx"
import { PublishDialog } from "../events/PublishDialog.tsx"
import { refreshOnActivity } from "../live/Live.ts"
import { formatCount, formatInstant } from "../text/format.ts"
import { t } from "../text/Language.ts"
import { recentStreams } from "./recentStreams.ts"
import "./streams.css"

/** Minimum interval of updates, in milliseconds. */
const refreshMs = 5000

export default function StreamsPage(): JSX.Element {
  const navigate = useNavigate()
  const client = useQueryClient()
  const [isPublishing, setPublishing] = createSignal(false)
  const streams = useQuery(() => ({ queryKey: ["streams"], queryFn: recentStreams, placeholderData: keepPreviousData }))
  refreshOnActivity(
    () => void client.invalidateQueries({ queryKey: ["streams"] }),
    refreshMs,
    ({ event }) => event === "event:created"
  )
  return (
    <div class="page">
      <div class="page-head">
        <h1>{t().streams.title}</h1>
        <div class="actions">
          <OpenStream />
          <button type="button" class="button primary" onClick={() => setPublishing(true)}>
            <Icon name="plus" />
            {t().streams.start}
          </button>
        </div>
      </div>
      <p class="muted">{t().streams.intro}</p>
      <Show when={streams.error}>{(error) => <ErrorNotice error={error()} />}</Show>
      <Show when={streams.data}>
        {(data) => (
          <section class="card" aria-label={t().streams.table}>
            <Show when={data().length > 0} fallback={<Empty title={t().streams.emptyTitle} text={t().streams.empty} />}>
              <div class="table-wrap">
                <table class="table">
                  <thead>
                    <tr>
                      <th scope="col">{t().streams.newest}</th>
                      <th scope="col" class="wide-only">
                        {t().streams.stream}
                      </th>
                      <th scope="col">{t().streams.events}</th>
                      <th scope="col">{t().events.time}</th>
                    </tr>
                  </thead>
                  <tbody>
                    <For each={data()}>
                      {(stream) => (
                        <tr>
                          <td>
                            <A class="mono" href={`/streams/${stream.id}`}>
                              {stream.type}
                            </A>
                          </td>
                          <td class="mono muted wide-only">{stream.id}</td>
                          <td class="number">{formatCount(stream.count)}</td>
                          <td class="muted">{formatInstant(stream.time)}</td>
                        </tr>
                      )}
                    </For>
                  </tbody>
                </table>
              </div>
            </Show>
          </section>
        )}
      </Show>
      <PublishDialog
        isOpen={isPublishing()}
        onClose={() => setPublishing(false)}
        onPublished={({ stream_id }) => navigate(`/streams/${stream_id}`)}
      />
    </div>
  )
}

/** Opens a stream by its id. */
const OpenStream = (): JSX.Element => {
  const navigate = useNavigate()
  const [id, setId] = createSignal("")
  return (
    <form
      class="open-stream"
      onSubmit={(event) => {
        event.preventDefault()
        navigate(`/streams/${encodeURIComponent(id().trim())}`)
      }}
    >
      <input
        class="input mono"
        required
        aria-label={t().streams.id}
        placeholder={t().streams.id}
        value={id()}
        onInput={(event) => setId(event.currentTarget.value)}
      />
      <button type="submit" class="button">
        {t().streams.open}
      </button>
    </form>
  )
}
