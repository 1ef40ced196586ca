/** `weft logs`: prints logs and results of runs. */
import type { LogEntry, Run } from "@weft/client"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { usageError } from "../../Failure.ts"
import { switchFlag } from "../../input/Switch.ts"
import { Output } from "../../output/Output.ts"
import { loadPages } from "../Lists.ts"
import { sinceFlag, statusFlag, typeFlag } from "../runs/RunFilters.ts"
import { followAll, followRun, type RunPrinter, showRuns } from "./FollowRuns.ts"
import { endText, entryText, type Level, levels } from "./LogText.ts"

const flags = {
  run: Argument.String("run").pipe(
    Argument.withDescription("The id of a run; by default the latest runs"),
    Argument.optional
  ),
  follow: switchFlag("follow", "Continue with new entries until the run ends, or with all new runs", "f"),
  fn: Flag.String("fn").pipe(
    Flag.withMetavar("function"),
    Flag.withDescription("Only runs of this function: ns/name, or project:ns/name"),
    Flag.optional
  ),
  level: Flag.Literals("level", levels).pipe(
    Flag.withDescription("Only lines of this level and above"),
    Flag.withDefault("debug")
  ),
  status: statusFlag,
  type: typeFlag,
  since: sinceFlag,
  limit: Flag.Int("limit").pipe(
    Flag.filter(
      (limit) => limit >= 0,
      () => "Expected: 0 or a positive number"
    ),
    Flag.withDescription("Maximum number of the latest runs: 20 by default, 0 with --follow"),
    Flag.optional
  )
}

export const logs = Command.make(
  "logs",
  flags,
  Effect.fnUntraced(function* ({ run, follow, fn, level, limit, ...filters }) {
    const printer = yield* makeRunPrinter(Option.getOrNull(fn), level)
    const isFiltered = [fn, limit, ...Object.values(filters)].some((flag) => Option.isSome<unknown>(flag))
    if (Option.isSome(run)) {
      if (isFiltered)
        return yield* usageError(
          "A run id can be combined only with --level and --follow",
          "omit the id, or the other filters"
        )
      return yield* follow ? followRun(run.value, printer) : showRuns([run.value], printer)
    }
    if (follow && Object.values(filters).some((flag) => Option.isSome<unknown>(flag))) {
      return yield* usageError(
        "--status, --type and --since cannot be combined with --follow",
        "omit them, or --follow"
      )
    }
    const count = Option.getOrElse(limit, () => (follow ? 0 : 20))
    yield* showRuns(yield* lastRuns(filters, count), printer)
    if (follow) yield* followAll(printer, { onInterruption: yield* makeInterruptionNotice })
  })
).pipe(
  Command.withDescription("Show logs and results of runs"),
  Command.withExamples([
    { command: "weft logs --follow --fn billing/charge", description: "All new runs of this function" },
    { command: "weft logs --status failed --since 24h", description: "Failed runs of the last 24 hours" }
  ])
)

interface Filters {
  readonly status: Option.Option<Run["status"]>
  readonly type: Option.Option<Run["run_type"]>
  readonly since: Option.Option<string>
}

/** Returns the ids of the latest runs, oldest first. */
const lastRuns = Effect.fnUntraced(function* ({ status, type, since }: Filters, limit: number) {
  if (limit === 0) return []
  const api = yield* Api
  const query = {
    status: Option.getOrUndefined(status),
    type: Option.getOrUndefined(type),
    time_range: Option.getOrUndefined(since)
  }
  const { items } = yield* api.request((weft, options) =>
    loadPages({ limit, all: false }, (page) => weft.runs.list({ ...query, ...page }, options))
  )
  return items.map((run) => run.run_id).reverse()
})

/** Reports a lost connection, which the client reopens. The message explains a pause in the output. */
const makeInterruptionNotice = Effect.gen(function* () {
  const output = yield* Output
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  return (error: Error) => void fork(output.note(output.paint.dim(`${error.message}; connecting again…`)))
})

const makeRunPrinter = Effect.fnUntraced(function* (fn: string | null, level: Level) {
  const output = yield* Output
  const least = levels.indexOf(level)
  return {
    accepts: (project, name) => fn === null || fn === name || fn === `${project}:${name}`,
    entry: (run: Run, name: string, entry: LogEntry) =>
      levels.indexOf(entry.level) < least
        ? Effect.void
        : output.line({ run_id: run.run_id, function: name, project_name: run.project_name, ...entry }, () =>
            entryText(entry, output.paint, name)
          ),
    end: (run, name) =>
      least > levels.indexOf("info") && run.status !== "failed"
        ? Effect.void
        : output.line({ ...run, function: name }, () => endText(run, output.paint, name))
  } satisfies RunPrinter
})
