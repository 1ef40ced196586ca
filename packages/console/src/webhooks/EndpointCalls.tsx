/** Recent calls of an endpoint's function. */
import { A } from "@solidjs/router"
import { useQuery, useQueryClient } from "@tanstack/solid-query"
import { For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { ErrorNotice } from "../design/Feedback.tsx"
import { StatusBadge, shownStatus } from "../design/StatusBadge.tsx"
import { refreshOnActivity } from "../live/Live.ts"
import { functionName, RunDuration } from "../runs/RunCells.tsx"
import { formatInstant } from "../text/format.ts"
import { t } from "../text/Language.ts"
import type { Endpoint } from "./useEndpoints.ts"

/** Minimum interval of updates, in milliseconds. */
const refreshMs = 1000
const shownMax = 20

export const EndpointCalls = (props: { readonly endpoint: Endpoint }): JSX.Element => {
  const client = useQueryClient()
  // The API has no filter for functions, so the newest calls of all functions are filtered here.
  const calls = useQuery(() => ({
    queryKey: ["webhook-calls"],
    queryFn: async () => (await weft.runs.list({ type: "call", limit: 100, include: "usage" })).items
  }))
  refreshOnActivity(
    () => void client.invalidateQueries({ queryKey: ["webhook-calls"] }),
    refreshMs,
    ({ data }) => "run_type" in data && data.run_type === "call"
  )
  const own = () =>
    (calls.data ?? [])
      .filter((run) => run.project_name === props.endpoint.project && functionName(run) === props.endpoint.fn)
      .slice(0, shownMax)
  return (
    <section class="card" aria-labelledby="calls">
      <div class="card-head">
        <h2 id="calls">{t().webhooks.calls}</h2>
      </div>
      <Show when={calls.error}>{(error) => <ErrorNotice error={error()} />}</Show>
      <Show when={calls.data}>
        <ul>
          <For each={own()} fallback={<li class="card-body muted">{t().webhooks.noCalls}</li>}>
            {(run) => (
              <li class="recent-row">
                <StatusBadge status={shownStatus(run)} />
                <A class="row-link mono cut" href={`/runs/${run.run_id}`}>
                  {run.run_id}
                </A>
                <span class="muted cut">{run.project_name}</span>
                <span class="muted cut">{formatInstant(run.start_time)}</span>
                <span class="number end">
                  <RunDuration run={run} />
                </span>
              </li>
            )}
          </For>
        </ul>
      </Show>
    </section>
  )
}
