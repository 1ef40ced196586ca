/** Text for the steps and waits of a durable run: a table with bars, aligned to the time of the run. */
import type { Run, RunStep, RunWait } from "@weft/client"
import type { Paint } from "../../output/Paint.ts"
import { type Column, tableLines } from "../../output/Table.ts"
import { clockTime, duration, localTime } from "../../output/Times.ts"
import { readError } from "./RunText.ts"

/** A line of the timeline: a result, or a wait that has not ended. */
interface Line {
  readonly kind: string
  readonly name: string
  readonly state: "done" | "failed" | "waits"
  readonly attempts: number
  readonly from: number
  /** Null for a wait that has not ended. */
  readonly to: number | null
  readonly note: string
}

/** Columns of the bars. */
const barWidth = 16

/** Returns the lines of the timeline. `now` is in milliseconds since 1970. */
export const timelineLines = (
  run: Run,
  { steps, waits }: { readonly steps: ReadonlyArray<RunStep>; readonly waits: ReadonlyArray<RunWait> },
  now: number,
  width: number
): ReadonlyArray<string> => {
  const lines = [...steps.map(toStepLine), ...waits.map(toWaitLine)]
  if (lines.length === 0) return ["No steps yet"]
  const begin = Date.parse(run.start_time)
  const end = run.stop_time === null ? Math.max(now, ...lines.map(({ to }) => to ?? 0)) : Date.parse(run.stop_time)
  const columns: ReadonlyArray<Column<Line>> = [
    { title: "TIME", of: ({ from }) => clockTime(new Date(from).toISOString()).slice(0, 8) },
    { title: "KIND", of: ({ kind }) => kind },
    { title: "NAME", of: ({ name }) => name, isFlexible: true },
    { title: "STATE", of: ({ state }) => state },
    { title: "TRY", of: ({ attempts }) => (attempts === 0 ? "" : String(attempts)), align: "right" },
    { title: "TOOK", of: ({ from, to }) => (to === null ? "" : duration(Math.max(0, to - from))), align: "right" },
    { title: "", of: ({ from, to }) => barOf({ from, to: to ?? end }, { begin, end }), isExtra: true },
    { title: "NOTE", of: ({ note }) => note, isFlexible: true, isExtra: true }
  ]
  return tableLines(columns, lines, width)
}

const toStepLine = ({ kind, name, ok, attempts, started_at, ended_at, error }: RunStep): Line => ({
  ...{ kind, name, attempts: kind === "step" ? attempts : 0, state: ok ? "done" : "failed" },
  ...{ from: Date.parse(started_at), to: Date.parse(ended_at) },
  note: ok ? "" : describeError(error)
})

const describeError = (error: RunStep["error"]): string => {
  const found = readError({ error })
  return found === null ? "" : found.message === "" ? found.name : `${found.name}: ${found.message}`
}

const toWaitLine = ({ kind, name, event_type, attempts, since, until }: RunWait): Line => ({
  ...{ kind, name, attempts, state: "waits", from: Date.parse(since), to: null },
  note: [...(event_type === null ? [] : [event_type]), ...(until === null ? [] : [`until ${localTime(until)}`])].join(
    " "
  )
})

interface Span {
  readonly from: number
  readonly to: number
}

/** Draws a span within the time of the run. A short span is one character wide. */
const barOf = ({ from, to }: Span, { begin, end }: { readonly begin: number; readonly end: number }): string => {
  const scale = barWidth / Math.max(1, end - begin)
  const first = Math.min(barWidth - 1, Math.max(0, Math.floor((from - begin) * scale)))
  const last = Math.min(barWidth, Math.max(first + 1, Math.ceil((to - begin) * scale)))
  return `${"·".repeat(first)}${"█".repeat(last - first)}${"·".repeat(barWidth - last)}`
}

/** Formats the wait of a suspended run; empty if it waits for nothing. */
export const waitingText = ({ waiting }: Run, paint: Paint): string => {
  if (waiting === null || waiting === undefined) return ""
  const until = waiting.until === null ? "" : ` until ${localTime(waiting.until)}`
  const name = waiting.name === "" ? "" : ` "${waiting.name}"`
  return paint.yellow(`waits for ${waiting.for}${name}${until}`)
}
