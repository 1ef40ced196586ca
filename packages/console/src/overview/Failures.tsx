/** Functions that failed, with the error of the newest failed run. */

import { A } from "@solidjs/router"
import { useQuery } from "@tanstack/solid-query"
import type { RunActivity } from "@weft/client"
import { For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { faultOf } from "../runs/Fault.ts"
import { formatCount } from "../text/format.ts"
import { t } from "../text/Language.ts"

type Failure = RunActivity["failures"][number]

const shownMax = 5

const errorMs = 30_000

export const Failures = (props: { readonly failures: ReadonlyArray<Failure> }): JSX.Element => (
  <section class="card" aria-labelledby="failures">
    <div class="card-head">
      <h2 id="failures">{t().overview.failures}</h2>
    </div>
    <Show when={props.failures.length > 0} fallback={<p class="card-body muted">{t().overview.noFailures}</p>}>
      <ul>
        <For each={props.failures.slice(0, shownMax)}>{(failure) => <Row failure={failure} />}</For>
      </ul>
    </Show>
  </section>
)

const Row = (props: { readonly failure: Failure }): JSX.Element => {
  // Under load each update has another newest run. Its error is read every 30 s at most.
  const run = useQuery(() => ({
    queryKey: ["newest-error", props.failure.project_id, props.failure.ns, props.failure.var],
    queryFn: () => weft.runs.get(props.failure.run_id),
    staleTime: errorMs
  }))
  return (
    <li class="failure recent-row">
      <A class="row-link mono cut" href={`/runs/${props.failure.run_id}`}>
        {props.failure.ns}/{props.failure.var}
      </A>
      <span class="badge failed plain">{formatCount(props.failure.failed)}</span>
      <span class="muted cut">{faultOf(run.data?.result ?? null)?.message ?? props.failure.project_name}</span>
    </li>
  )
}
