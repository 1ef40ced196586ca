/** `weft logs`: what runs log, and how they end. */
import type { LogEntry, Run } from "@weft/client"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { misuse } from "../../Failure.ts"
import { switchFlag } from "../../input/Switch.ts"
import { Output } from "../../output/Output.ts"
import { listed } from "../Listing.ts"
import { sinceFlag, statusFlag, typeFlag } from "../runs/RunFilters.ts"
import { followAll, followRun, type Showing, showRuns } from "./Following.ts"
import { endText, entryText, type Level, levels } from "./LogText.ts"

const flags = {
  run: Argument.String("run").pipe(
    Argument.withDescription("The id of a run; without it, the last runs"),
    Argument.optional
  ),
  follow: switchFlag("follow", "Go on with what happens: until the run ends, or with all runs that begin", "f"),
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
      () => "Expected: a number from 0 on"
    ),
    Flag.withDescription("How many of the last runs to show: 20 by default, none with --follow"),
    Flag.optional
  )
}

export const logs = Command.make(
  "logs",
  flags,
  Effect.fnUntraced(function* ({ run, follow, fn, level, limit, ...filters }) {
    const showing = yield* showingOf(Option.getOrNull(fn), level)
    const isFiltered = [fn, limit, ...Object.values(filters)].some((flag) => Option.isSome<unknown>(flag))
    if (Option.isSome(run)) {
      if (isFiltered) return yield* misuse("One run needs no filters but --level", "leave out the id, or the filters")
      return yield* follow ? followRun(run.value, showing) : showRuns([run.value], showing)
    }
    if (follow && Object.values(filters).some((flag) => Option.isSome<unknown>(flag))) {
      return yield* misuse("--status, --type and --since choose among the last runs", "leave them out, or --follow")
    }
    const count = Option.getOrElse(limit, () => (follow ? 0 : 20))
    yield* showRuns(yield* lastRuns(filters, count), showing)
    if (follow) yield* followAll(showing, yield* sayInterruption)
  })
).pipe(
  Command.withDescription("Show what runs log, and how they end"),
  Command.withExamples([
    { command: "weft logs --follow --fn billing/charge", description: "All that this function does from now on" },
    { command: "weft logs --status failed --since 24h", description: "What failed today" }
  ])
)

interface Filters {
  readonly status: Option.Option<Run["status"]>
  readonly type: Option.Option<Run["run_type"]>
  readonly since: Option.Option<string>
}

/** The oldest of them first, as it happened. */
const lastRuns = Effect.fnUntraced(function* ({ status, type, since }: Filters, limit: number) {
  if (limit === 0) return []
  const api = yield* Api
  const query = {
    status: Option.getOrUndefined(status),
    type: Option.getOrUndefined(type),
    time_range: Option.getOrUndefined(since)
  }
  const { items } = yield* api.ask((weft, asking) =>
    listed({ limit, all: false }, (page) => weft.runs.list({ ...query, ...page }, asking))
  )
  return items.map((run) => run.run_id).reverse()
})

/** A connection that was lost comes back by itself: people are told, so that silence has a reason. */
const sayInterruption = Effect.gen(function* () {
  const output = yield* Output
  const say = Effect.runForkWith(yield* Effect.context<never>())
  return (error: Error) => void say(output.note(output.paint.dim(`${error.message}; connecting again…`)))
})

const showingOf = Effect.fnUntraced(function* (fn: string | null, level: Level) {
  const output = yield* Output
  const least = levels.indexOf(level)
  return {
    isWanted: (project, name) => fn === null || fn === name || fn === `${project}:${name}`,
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
  } satisfies Showing
})
