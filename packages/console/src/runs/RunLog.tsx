/** The log of a run. While the run is in progress, the log follows it. */

import { useQuery } from "@tanstack/solid-query"
import type { LogEntry, Run } from "@weft/client"
import { createEffect, createSignal, For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { ErrorNotice } from "../design/Feedback.tsx"
import { Rich } from "../design/Rich.tsx"
import { shownStatus } from "../design/StatusBadge.tsx"
import { formatPreciseTime } from "../text/format.ts"
import { t } from "../text/Language.ts"

const levels = ["debug", "info", "warn", "error"] as const

/** Interval at which the log of a run in progress is read, in milliseconds. Live messages contain no log. */
const followMs = 1000

export const RunLog = (props: { readonly run: Run }): JSX.Element => {
  const [level, setLevel] = createSignal<LogEntry["level"]>("debug")
  /** False for a suspended run, which logs nothing. */
  const isRunning = () => shownStatus(props.run) === "running"
  const logs = useQuery(() => ({
    queryKey: ["run", props.run.run_id, "logs", props.run.status],
    queryFn: () => readLog(props.run.run_id),
    refetchInterval: isRunning() ? followMs : false,
    placeholderData: (previous: ReadonlyArray<LogEntry> | undefined) => previous
  }))
  const shown = () => {
    const from = levels.indexOf(level())
    return (logs.data ?? []).filter((entry) => levels.indexOf(entry.level) >= from)
  }
  let list: HTMLOListElement | undefined
  createEffect(() => {
    if (shown().length > 0 && isRunning()) list?.scrollTo({ top: list.scrollHeight })
  })
  return (
    <section class="card" aria-labelledby="log">
      <div class="card-head">
        <h2 id="log">{t().run.logs}</h2>
        <Show when={isRunning()}>
          <span class="badge running">{t().run.following}</span>
        </Show>
        <label class="end">
          <span class="visually-hidden">{t().run.level}</span>
          <select
            class="input"
            onChange={(event) => setLevel(levels.find((one) => one === event.currentTarget.value) ?? "debug")}
          >
            <option value="debug">{t().run.allLevels}</option>
            <For each={levels.slice(1)}>{(one) => <option value={one}>≥ {one}</option>}</For>
          </select>
        </label>
      </div>
      <Show when={logs.error}>{(error) => <ErrorNotice error={error()} onRetry={() => void logs.refetch()} />}</Show>
      <Show
        when={shown().length > 0}
        fallback={
          <p class="card-body muted">
            <Rich text={t().run.noLogs} />
          </p>
        }
      >
        <ol class="log" tabindex="0" aria-labelledby="log" ref={list}>
          <For each={shown()}>{(entry) => <Line entry={entry} />}</For>
        </ol>
      </Show>
    </section>
  )
}

const Line = (props: { readonly entry: LogEntry }): JSX.Element => (
  <li>
    <time class="muted" datetime={props.entry.time}>
      {formatPreciseTime(props.entry.time)}
    </time>
    <span class={props.entry.level}>{props.entry.level}</span>
    <span class="message">
      {props.entry.message}
      <Show when={props.entry.data !== null}>
        <span class="muted"> {JSON.stringify(props.entry.data)}</span>
      </Show>
    </span>
  </li>
)

/** Maximum log entries that the page shows. */
const entriesMax = 1000

/** Reads the whole log, page by page. */
const readLog = async (runId: string): Promise<ReadonlyArray<LogEntry>> => {
  const entries: Array<LogEntry> = []
  for await (const entry of weft.runs.logs(runId)) {
    entries.push(entry)
    if (entries.length === entriesMax) break
  }
  return entries
}
