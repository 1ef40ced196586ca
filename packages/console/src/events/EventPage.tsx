/** One event: its data, and the runs that it started. */
import { A, useParams } from "@solidjs/router"
import { useQuery, useQueryClient } from "@tanstack/solid-query"
import { For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { CopyButton } from "../design/CopyButton.tsx"
import { DataTree } from "../design/DataTree.tsx"
import { ErrorNotice } from "../design/Feedback.tsx"
import { Instant } from "../design/Instant.tsx"
import { refreshOnActivity } from "../live/Live.ts"
import { RecentRun } from "../runs/RecentRun.tsx"
import { t } from "../text/Language.ts"
import { EventHandlers } from "./EventHandlers.tsx"
import "./events.css"

const refreshMs = 500

export default function EventPage(): JSX.Element {
  const params = useParams<{ id: string }>()
  const client = useQueryClient()
  const event = useQuery(() => ({ queryKey: ["event", params.id], queryFn: () => weft.events.get(params.id) }))
  const runs = useQuery(() => ({
    queryKey: ["event", params.id, "runs"],
    queryFn: async () => (await weft.events.runs(params.id, { limit: 100 })).items
  }))
  refreshOnActivity(
    () => void client.invalidateQueries({ queryKey: ["event", params.id, "runs"] }),
    refreshMs,
    ({ data }) => data.stream_id === event.data?.stream_id
  )
  return (
    <div class="page">
      <A class="crumb" href="/events">
        ← {t().events.title}
      </A>
      <Show when={event.error}>{(error) => <ErrorNotice error={error()} />}</Show>
      <Show when={event.data}>
        {(data) => (
          <>
            <div class="page-head">
              <h1 class="mono-title">{data().event_type}</h1>
            </div>
            <div class="run-grid">
              <div>
                <section class="card" aria-labelledby="data">
                  <div class="card-head">
                    <h2 id="data">{t().events.data}</h2>
                    <span class="end">
                      <CopyButton text={JSON.stringify(data().event_data, null, 2)} label={t().events.data} />
                    </span>
                  </div>
                  <div class="card-body">
                    <DataTree value={data().event_data} />
                  </div>
                </section>
                <section class="card" aria-labelledby="runs">
                  <div class="card-head">
                    <h2 id="runs">{t().events.runs}</h2>
                  </div>
                  <Show when={runs.error}>{(error) => <ErrorNotice error={error()} />}</Show>
                  <ul>
                    <For each={runs.data} fallback={<li class="card-body muted">{t().events.noRuns}</li>}>
                      {(run) => <RecentRun run={run} name={run.run_id} />}
                    </For>
                  </ul>
                </section>
                <Show when={runs.data}>{(list) => <EventHandlers event={data()} runs={list()} />}</Show>
              </div>
              <section class="card" aria-labelledby="details">
                <div class="card-head">
                  <h2 id="details">{t().run.details}</h2>
                </div>
                <dl class="facts card-body">
                  <dt>{t().events.id}</dt>
                  <dd class="mono with-copy">
                    {data().event_id}
                    <CopyButton text={data().event_id} label={t().events.id} />
                  </dd>
                  <dt>{t().events.time}</dt>
                  <dd>
                    <Instant at={data().event_time} />
                  </dd>
                  <dt>{t().events.stream}</dt>
                  <dd class="mono">
                    <A href={`/streams/${data().stream_id}`}>{data().stream_id}</A>
                  </dd>
                </dl>
              </section>
            </div>
          </>
        )}
      </Show>
    </div>
  )
}
