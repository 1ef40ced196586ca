/** Text for log entries. */
import type { LogEntry, Run } from "@weft/client"
import type { Paint } from "../../output/Paint.ts"
import { printable } from "../../output/Printable.ts"
import { clockTime, formatRunDuration } from "../../output/Times.ts"
import { plainJson } from "../../output/Values.ts"
import { errorLines, readError } from "../runs/RunText.ts"

export const levels = ["debug", "info", "warn", "error"] as const
export type Level = (typeof levels)[number]

const levelText = (level: Level, paint: Paint): string => {
  const text = level.padEnd(5)
  switch (level) {
    case "debug":
      return paint.dim(text)
    case "info":
      return text
    case "warn":
      return paint.yellow(text)
    case "error":
      return paint.red(text)
  }
}

/** Formats an entry as `12:00:00.000 ns/name info  message {"data":…}`, with further lines of the message below. */
export const entryText = ({ time, level, message, data }: LogEntry, paint: Paint, of = ""): string => {
  const head = [paint.dim(clockTime(time)), ...(of === "" ? [] : [paint.cyan(of)]), levelText(level, paint)].join(" ")
  const text = printable(message).replaceAll("\n", "\n  ")
  return data === null ? `${head} ${text}` : `${head} ${text} ${paint.dim(plainJson(data))}`
}

/** Formats the end of a run, with the stack of its error below. */
export const endText = (run: Run, paint: Paint, of: string): string => {
  const colour = { running: paint.dim, succeeded: paint.green, failed: paint.red, cancelled: paint.yellow }[run.status]
  const took = run.stop_time === null ? "" : ` in ${formatRunDuration(run)}`
  const head = `${paint.dim(clockTime(run.stop_time ?? run.start_time))} ${paint.cyan(of)} ${colour(run.status)}${took}`
  const error = run.status === "failed" ? readError(run.result) : null
  const below = error === null ? [] : errorLines(error, paint).map((line) => `  ${line}`)
  return [`${head}  ${paint.dim(run.run_id)}`, ...below].join("\n")
}
