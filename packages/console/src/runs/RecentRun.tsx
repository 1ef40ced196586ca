/** A run in a short list, as an item that links to its page. */
import { A } from "@solidjs/router"
import type { Run } from "@weft/client"
import type { JSX } from "solid-js"
import { StatusBadge, shownStatus } from "../design/StatusBadge.tsx"
import { formatInstant } from "../text/format.ts"
import { RunDuration } from "./RunCells.tsx"

export const RecentRun = (props: { readonly run: Run; readonly name: string }): JSX.Element => (
  <li class="recent-row">
    <StatusBadge status={shownStatus(props.run)} />
    <A class="row-link mono cut" href={`/runs/${props.run.run_id}`}>
      {props.name}
    </A>
    <span class="muted cut">{props.run.project_name}</span>
    <span class="muted cut">{formatInstant(props.run.start_time)}</span>
    <span class="number end">
      <RunDuration run={props.run} />
    </span>
  </li>
)
