/** The log and the result of a test run, while it runs and after it. */
import { A } from "@solidjs/router"
import { useQuery, useQueryClient } from "@tanstack/solid-query"
import type { Run } from "@weft/client"
import { type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { CommandHint } from "../design/CommandHint.tsx"
import { ErrorNotice } from "../design/Feedback.tsx"
import { StatusBadge, shownStatus } from "../design/StatusBadge.tsx"
import { refreshOnActivity } from "../live/Live.ts"
import { RunDuration } from "../runs/RunCells.tsx"
import { RunLog } from "../runs/RunLog.tsx"
import { RunOutcome } from "../runs/RunOutcome.tsx"
import { t } from "../text/Language.ts"
import type { TestRun } from "./testRun.ts"

/** Minimum interval of updates after live messages, in milliseconds. */
const refreshMs = 300

export const RunPanel = (props: { readonly run: TestRun | null }): JSX.Element => (
  <Show
    when={props.run}
    keyed
    fallback={
      <div class="card">
        <p class="card-body muted">{t().editor.noResult}</p>
      </div>
    }
  >
    {(run) => <Panel test={run} />}
  </Show>
)

const Panel = (props: { readonly test: TestRun }): JSX.Element => {
  const client = useQueryClient()
  const id = () => props.test.runId
  const run = useQuery(() => ({
    queryKey: ["run", id()],
    queryFn: () => weft.runs.get(id()),
    // A run may end before the page subscribes to its messages.
    refetchInterval: ({ state }) => (state.data?.status === "running" ? 1000 : false)
  }))
  refreshOnActivity(
    () => void client.invalidateQueries({ queryKey: ["run", id()] }),
    refreshMs,
    ({ data }) => "run_id" in data && data.run_id === id()
  )
  return (
    <>
      <Show when={run.error}>{(error) => <ErrorNotice error={error()} />}</Show>
      <Show when={run.data}>
        {(data) => (
          <>
            <Result run={data()} command={props.test.command} />
            <RunLog run={data()} />
          </>
        )}
      </Show>
    </>
  )
}

const Result = (props: { readonly run: Run; readonly command: string }): JSX.Element => (
  <section class="card" aria-labelledby="result">
    <div class="card-head">
      <h2 id="result">{t().editor.result}</h2>
      <StatusBadge status={shownStatus(props.run)} />
      <A class="end" href={`/runs/${props.run.run_id}`}>
        <RunDuration run={props.run} />
      </A>
    </div>
    <div class="card-body grid">
      <RunOutcome run={props.run} />
      <CommandHint command={props.command} />
    </div>
  </section>
)
