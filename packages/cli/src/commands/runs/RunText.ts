/** Text for runs. */
import type { Json, Run, RunUsage } from "@weft/client"
import type { Paint } from "../../output/Paint.ts"
import { printable } from "../../output/Printable.ts"
import { type Column, fieldLines } from "../../output/Table.ts"
import { duration, formatRunDuration, localTime } from "../../output/Times.ts"
import { prettyJson } from "../../output/Values.ts"

export const runColumns: ReadonlyArray<Column<Run>> = [
  { title: "RUN", of: (run) => run.run_id },
  { title: "STATUS", of: (run) => run.status },
  { title: "TYPE", of: (run) => run.run_type },
  { title: "STARTED", of: (run) => localTime(run.start_time) },
  { title: "TOOK", of: formatRunDuration, align: "right", isExtra: true },
  { title: "PROJECT", of: (run) => run.project_name, isFlexible: true, isExtra: true }
]

/** Returns the function of a run in the notation of `weft run`. */
export const toFunctionName = ({ ns, var: name }: RunUsage): string => `${ns}/${name}`

export const runText = (run: Run, usage: RunUsage, paint: Paint): string => {
  const facts = fieldLines([
    ["run", run.run_id],
    ["function", toFunctionName(usage)],
    ["project", run.project_name],
    ["status", run.status],
    ["type", run.run_type],
    ["attempt", String(usage.attempt)],
    ["started", localTime(run.start_time)],
    ...(run.stop_time === null ? [] : ([["took", formatRunDuration(run)]] as const)),
    ...(usage.cpu_ms === null ? [] : ([["processor", duration(usage.cpu_ms)]] as const)),
    ["build", run.build_id],
    ["stream", run.stream_id],
    ...eventFields(run),
    ...(run.origin_run_id === null ? [] : ([["origin", run.origin_run_id]] as const))
  ])
  const outcome = outcomeText(run, paint)
  return [...facts, ...(outcome === "" ? [] : ["", outcome])].join("\n")
}

/** Returns the event of a run, or all events of its batch. */
const eventFields = ({ event_id, event_ids }: Run): ReadonlyArray<readonly [string, string]> => {
  if (event_ids !== undefined)
    return event_ids.map((id, index) => [index === 0 ? `events (${event_ids.length})` : "", id])
  return event_id === null ? [] : [["event", event_id]]
}

/** Formats the result of a run, or its error with the stack; empty while it is running. */
const outcomeText = (run: Run, paint: Paint): string => {
  if (run.status === "running") return ""
  const error = run.status === "succeeded" ? null : readError(run.result)
  return error === null ? prettyJson(run.result) : errorLines(error, paint).join("\n")
}

export interface RunError {
  readonly name: string
  readonly message: string
  readonly stack: string
}

/** Returns the error in the result of a run, or null. */
export const readError = (result: Json): RunError | null => {
  const error = readField(result, "error")
  const name = readField(error, "name")
  return typeof name === "string"
    ? { name, message: readText(error, "message"), stack: readText(error, "stack") }
    : null
}

/** Returns the message, then the frames of the stack without the lines that repeat the message. */
export const errorLines = ({ name, message, stack }: RunError, paint: Paint): ReadonlyArray<string> => {
  const headline = message === "" ? name : `${name}: ${message}`
  const frames = stack.startsWith(headline) ? stack.slice(headline.length) : stack
  return [paint.red(printable(headline)), ...frames.split("\n").flatMap((line) => frameLines(line, paint))]
}

const frameLines = (line: string, paint: Paint): ReadonlyArray<string> =>
  line.trim() === "" ? [] : [`  ${paint.dim(printable(line.trim()))}`]

const readField = (value: Json | undefined, name: string): Json | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined

const readText = (value: Json | undefined, name: string): string => {
  const text = readField(value, name)
  return typeof text === "string" ? text : ""
}
