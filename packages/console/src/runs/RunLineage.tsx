/** The event and the runs that led to a run, and what it caused, as a tree of links. */
import { A } from "@solidjs/router"
import { keepPreviousData, useQuery } from "@tanstack/solid-query"
import type { Run } from "@weft/client"
import { For, type JSX, Match, Show, Switch } from "solid-js"
import { weft } from "../api/client.ts"
import { dataOf } from "../api/queries.ts"
import { ErrorNotice } from "../design/Feedback.tsx"
import { Rich } from "../design/Rich.tsx"
import { StatusBadge, shownStatus } from "../design/StatusBadge.tsx"
import { formatInstant } from "../text/format.ts"
import { t } from "../text/Language.ts"
import { hasEffects, type LineageNode } from "./Lineage.ts"
import { RunDuration } from "./RunCells.tsx"
import { readLineage } from "./readLineage.ts"

/** Interval of updates while effects may begin, in milliseconds. */
const followMs = 5_000

/** Time after the end of a run in which the page reads its effects again, in milliseconds. */
const recentMs = 30_000

const mayHaveEffects = (run: Run): boolean =>
  shownStatus(run) === "running" || (run.stop_time !== null && Date.now() - Date.parse(run.stop_time) < recentMs)

/** Children that a node shows. */
const shownMax = 20

export const RunLineage = (props: { readonly run: Run }): JSX.Element => {
  const lineage = useQuery(() => ({
    // Not a part of the run's own key: each of its live messages would read the whole tree again.
    queryKey: ["lineage", props.run.run_id, props.run.status],
    queryFn: () => readLineage(props.run),
    placeholderData: keepPreviousData,
    refetchInterval: () => (mayHaveEffects(props.run) ? followMs : false)
  }))
  const hint = () => {
    const found = dataOf(lineage)
    if (found === undefined) return ""
    const searched = t().lineage.searched(formatInstant(found.searchedUntil))
    return found.isComplete ? searched : `${searched} ${t().lineage.partial}`
  }
  return (
    <section class="card" aria-labelledby="lineage">
      <div class="card-head">
        <h2 id="lineage">{t().lineage.title}</h2>
      </div>
      <Show when={lineage.error}>
        {(error) => <ErrorNotice error={error()} onRetry={() => void lineage.refetch()} />}
      </Show>
      <Show when={dataOf(lineage)}>
        {(data) => (
          <>
            <ul class="lineage" aria-labelledby="lineage">
              <Node node={data().root} currentId={props.run.run_id} parent={null} />
            </ul>
            <p class="note divided">
              <Show when={!hasEffects(data().root, props.run.run_id)}>
                <Rich text={t().lineage.none} />{" "}
              </Show>
              {hint()}
            </p>
          </>
        )}
      </Show>
    </section>
  )
}

interface NodeProps {
  readonly node: LineageNode
  readonly currentId: string
  /** The run that led to the node. */
  readonly parent: Run | null
}

const Node = (props: NodeProps): JSX.Element => {
  const run = () => (props.node.kind === "run" ? props.node.run : null)
  return (
    <li>
      <Switch>
        <Match when={props.node.kind === "event" && props.node}>{(node) => <EventRow id={node().id} />}</Match>
        <Match when={run()}>
          {(shown) => <RunRow run={shown()} parent={props.parent} isCurrent={shown().run_id === props.currentId} />}
        </Match>
      </Switch>
      <Show when={props.node.children.length > 0}>
        <ul>
          <For each={props.node.children.slice(0, shownMax)}>
            {(child) => <Node node={child} currentId={props.currentId} parent={run() ?? props.parent} />}
          </For>
          <Show when={props.node.children.length > shownMax}>
            <li class="muted">{t().lineage.more(props.node.children.length - shownMax)}</li>
          </Show>
        </ul>
      </Show>
    </li>
  )
}

const EventRow = (props: { readonly id: string }): JSX.Element => {
  const event = useQuery(() => ({
    queryKey: ["event", props.id],
    queryFn: () => weft.events.get(props.id),
    staleTime: Number.POSITIVE_INFINITY
  }))
  return (
    <div class="lineage-row">
      <span class="badge plain">{t().run.event}</span>
      <A class="mono cut" href={`/events/${props.id}`}>
        {dataOf(event)?.event_type ?? props.id.slice(-12)}
      </A>
    </div>
  )
}

const RunRow = (props: {
  readonly run: Run
  readonly parent: Run | null
  readonly isCurrent: boolean
}): JSX.Element => {
  const usage = useQuery(() => ({
    queryKey: ["run", props.run.run_id, "usage", props.run.status],
    queryFn: () => weft.runs.usage(props.run.run_id),
    initialData: props.run.usage
  }))
  const name = () => {
    const used = dataOf(usage)
    return used === undefined ? props.run.run_id.slice(-12) : `${used.ns}/${used.var}`
  }
  const attempt = () => dataOf(usage)?.attempt ?? 1
  /** Text of the relation to the run before it, an attempt or a replay; null for other relations. */
  const relation = () => {
    if (props.parent === null || props.run.origin_run_id !== props.parent.run_id) return null
    if (props.run.event_id !== props.parent.event_id) return null
    return attempt() > 1 ? t().run.attempt(attempt()) : t().lineage.replay
  }
  return (
    <div
      class="lineage-row"
      classList={{ current: props.isCurrent }}
      aria-current={props.isCurrent ? "true" : undefined}
    >
      <StatusBadge status={shownStatus(props.run)} />
      <Show
        when={!props.isCurrent}
        fallback={
          <span class="cut">
            <strong class="mono">{name()}</strong> <span class="muted">{t().run.thisRun}</span>
          </span>
        }
      >
        <A class="mono cut" href={`/runs/${props.run.run_id}`}>
          {name()}
        </A>
      </Show>
      <Show when={relation()}>{(text) => <span class="badge plain">{text()}</span>}</Show>
      <span class="muted number end">
        <RunDuration run={props.run} />
      </span>
    </div>
  )
}
