/** Runs for people. */
import type { Json, Run, RunUsage } from "@weft/client"
import type { Paint } from "../../output/Paint.ts"
import { printable } from "../../output/Printable.ts"
import { type Column, fieldLines } from "../../output/Table.ts"
import { duration, localTime, tookOf } from "../../output/Times.ts"
import { prettyJson } from "../../output/Values.ts"

export const runColumns: ReadonlyArray<Column<Run>> = [
  { title: "RUN", of: (run) => run.run_id },
  { title: "STATUS", of: (run) => run.status },
  { title: "TYPE", of: (run) => run.run_type },
  { title: "STARTED", of: (run) => localTime(run.start_time) },
  { title: "TOOK", of: tookOf, align: "right", isExtra: true },
  { title: "PROJECT", of: (run) => run.project_name, isFlexible: true, isExtra: true }
]

/** The function of a run, as `weft run` takes it. */
export const functionOf = ({ ns, var: name }: RunUsage): string => `${ns}/${name}`

export const runText = (run: Run, usage: RunUsage, paint: Paint): string => {
  const facts = fieldLines([
    ["run", run.run_id],
    ["function", functionOf(usage)],
    ["project", run.project_name],
    ["status", run.status],
    ["type", run.run_type],
    ["attempt", String(usage.attempt)],
    ["started", localTime(run.start_time)],
    ...(run.stop_time === null ? [] : ([["took", tookOf(run)]] as const)),
    ...(usage.cpu_ms === null ? [] : ([["processor", duration(usage.cpu_ms)]] as const)),
    ["build", run.build_id],
    ["stream", run.stream_id],
    ...(run.event_id === null ? [] : ([["event", run.event_id]] as const)),
    ...(run.origin_run_id === null ? [] : ([["origin", run.origin_run_id]] as const))
  ])
  const outcome = outcomeText(run, paint)
  return [...facts, ...(outcome === "" ? [] : ["", outcome])].join("\n")
}

/** What the run came to: its result, or its failure with the stack; nothing while it goes on. */
export const outcomeText = (run: Run, paint: Paint): string => {
  if (run.status === "running") return ""
  const error = run.status === "succeeded" ? null : errorOf(run.result)
  return error === null ? prettyJson(run.result) : errorLines(error, paint).join("\n")
}

export interface RunError {
  readonly name: string
  readonly message: string
  readonly stack: string
}

/** The failure in the result of a run; null if there is none. */
export const errorOf = (result: Json): RunError | null => {
  const error = fieldOf(result, "error")
  const name = fieldOf(error, "name")
  return typeof name === "string" ? { name, message: textOf(error, "message"), stack: textOf(error, "stack") } : null
}

/** The message, then the frames of the stack, without those lines of it that are the message. */
export const errorLines = ({ name, message, stack }: RunError, paint: Paint): ReadonlyArray<string> => {
  const headline = message === "" ? name : `${name}: ${message}`
  const frames = stack.startsWith(headline) ? stack.slice(headline.length) : stack
  return [paint.red(printable(headline)), ...frames.split("\n").flatMap((line) => frameOf(line, paint))]
}

const frameOf = (line: string, paint: Paint): ReadonlyArray<string> =>
  line.trim() === "" ? [] : [`  ${paint.dim(printable(line.trim()))}`]

const fieldOf = (value: Json | undefined, name: string): Json | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined

const textOf = (value: Json | undefined, name: string): string => {
  const text = fieldOf(value, name)
  return typeof text === "string" ? text : ""
}
