import type { RunSeries } from "@weft/client"
import { Clock, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { parseDuration } from "../../input/Duration.ts"
import { Output } from "../../output/Output.ts"
import { sparkline } from "../../output/Sparkline.ts"
import { type Column, tableLines } from "../../output/Table.ts"
import { duration } from "../../output/Times.ts"

const secondsFlag = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar("time"),
    Flag.filterMap(parseDuration, (text) => `Expected: a time such as 5m, 1h or 7d, not ${text}`),
    Flag.withDescription(description)
  )

export const series = Command.make(
  "series",
  {
    fn: Argument.String("function").pipe(
      Argument.withDescription("project:ns/var, or ns/var with --project; without it, all functions"),
      Argument.optional
    ),
    project: Flag.String("project").pipe(
      Flag.withMetavar("name"),
      Flag.withDescription("Only this project: its id or its name"),
      Flag.optional
    ),
    since: secondsFlag("since", "Length of the period until now, 1h by default").pipe(Flag.withDefault(3600)),
    step: secondsFlag("step", "Length of a step: whole minutes, at most a day").pipe(Flag.optional)
  },
  Effect.fnUntraced(function* ({ fn, project, since, step }) {
    const api = yield* Api
    const output = yield* Output
    const query = {
      fn: Option.getOrUndefined(fn),
      project: Option.getOrUndefined(project),
      from: new Date((yield* Clock.currentTimeMillis) - since * 1000).toISOString(),
      step: Option.getOrUndefined(Option.map(step, (seconds) => `${seconds}s`))
    }
    const found = yield* api.request((weft, options) => weft.runs.series(query, options))
    const width = yield* output.columns
    if (found.series.length > 0 || output.json)
      yield* output.print(found, () => tableLines(columns(found), found.series, width).join("\n"))
    else yield* output.note("No runs ended in this period")
  })
).pipe(
  Command.withDescription("Show counts and latencies of runs over time, by function"),
  Command.withExamples([
    { command: "weft runs series --since 24h", description: "The functions with the most runs of the last 24 hours" },
    { command: "weft runs series shop:main/onOrder --since 7d --step 1h --json", description: "For a script" }
  ])
)

type FunctionSeries = RunSeries["series"][number]

/** Maximum characters of a sparkline. */
const chartWidth = 30

const columns = (found: RunSeries): ReadonlyArray<Column<FunctionSeries>> => [
  { title: "FUNCTION", of: formatFunction, isFlexible: true },
  { title: "RUNS OVER TIME", of: (fn) => sparkline(countSteps(found, fn), chartWidth), isExtra: true },
  { title: "OK", of: ({ total }) => String(total.succeeded), align: "right" },
  { title: "FAILED", of: ({ total }) => String(total.failed), align: "right" },
  { title: "CANCELLED", of: ({ total }) => String(total.cancelled), align: "right" },
  { title: "P50", of: ({ total }) => formatTime(total.duration?.p50_ms), align: "right" },
  { title: "P95", of: ({ total }) => formatTime(total.duration?.p95_ms), align: "right" },
  { title: "P99", of: ({ total }) => formatTime(total.duration?.p99_ms), align: "right" },
  { title: "WAIT P95", of: ({ total }) => formatTime(total.wait?.p95_ms), align: "right", isExtra: true }
]

const formatFunction = ({ project_name, ns, var: name }: FunctionSeries): string =>
  project_name === null ? "(others)" : `${project_name}:${ns}/${name}`

const formatTime = (millis: number | undefined): string => (millis === undefined ? "" : duration(millis))

/** Returns the number of ended runs of each step, also of those without runs. */
const countSteps = ({ from, to, step_seconds }: RunSeries, { points }: FunctionSeries): ReadonlyArray<number> => {
  const start = Date.parse(from)
  const stepMs = step_seconds * 1000
  const counts = Array.from({ length: Math.ceil((Date.parse(to) - start) / stepMs) }, () => 0)
  for (const { time, succeeded, failed, cancelled } of points)
    counts[Math.round((Date.parse(time) - start) / stepMs)] = succeeded + failed + cancelled
  return counts
}
