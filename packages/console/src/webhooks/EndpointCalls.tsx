import { useQuery, useQueryClient } from "@tanstack/solid-query"
import { For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { ErrorNotice } from "../design/Feedback.tsx"
import { refreshOnActivity } from "../live/Live.ts"
import { RecentRun } from "../runs/RecentRun.tsx"
import { functionName } from "../runs/RunCells.tsx"
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
            {(run) => <RecentRun run={run} name={run.run_id} />}
          </For>
        </ul>
      </Show>
    </section>
  )
}
