import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { usageError } from "../../Failure.ts"
import { switchFlag } from "../../input/Switch.ts"
import { Output } from "../../output/Output.ts"
import { hasMatchingFlags, matchingFlags, runMatching, toFilter } from "../operations/MatchingFlags.ts"
import { sinceFlag, typeFlag, waitingFlag } from "./RunFilters.ts"

const flags = {
  runs: Argument.String("run").pipe(Argument.withDescription("Ids of running runs"), Argument.variadic()),
  all: switchFlag("all", "Cancel all running runs, or those that the other flags select"),
  type: typeFlag,
  since: sinceFlag,
  cleanup: Flag.String("cleanup").pipe(
    Flag.withMetavar("duration"),
    Flag.withDescription("Time in which durable runs may clean up, such as 30s, at most 5m"),
    Flag.optional
  ),
  event: Flag.String("event").pipe(
    Flag.withMetavar("id"),
    Flag.withDescription("Only runs that this event triggered"),
    Flag.optional
  ),
  waiting: waitingFlag,
  ...matchingFlags
}

export const cancel = Command.make(
  "cancel",
  flags,
  Effect.fnUntraced(function* ({ runs, all, allMatching, cleanup, ...matching }) {
    const { type, since, event } = matching
    if (allMatching) {
      if (all || runs.length > 0 || Option.isSome(cleanup))
        return yield* usageError("--all-matching cannot be combined with ids, --all or --cleanup")
      return yield* runMatching({ kind: "cancel", filter: toFilter(matching) }, matching)
    }
    if (hasMatchingFlags(matching))
      return yield* usageError(
        "--waiting, --project, --function, --event-type, --rate, --dry-run and --detach need --all-matching",
        "give --all-matching instead of ids or --all"
      )
    const isFiltered = [type, since, event].some(Option.isSome)
    if (all === runs.length > 0) {
      return yield* usageError(
        "Select the runs to cancel",
        isFiltered ? "--type, --since and --event need --all, without ids" : "give either their ids or --all"
      )
    }
    if (isFiltered && !all)
      return yield* usageError("--type, --since and --event cannot be combined with ids", "give --all instead of ids")
    if (all && Option.isSome(cleanup))
      return yield* usageError("--cleanup cannot be combined with --all", "give the ids of the runs instead")
    yield* all
      ? cancelAll({ type, since, event })
      : Effect.forEach(runs, (id) => cancelOne(id, cleanup), { discard: true })
  })
).pipe(
  Command.withDescription("Cancel running runs, without retries"),
  Command.withExamples([
    { command: "weft runs cancel --all --type call --since 1h" },
    { command: "weft runs cancel --all-matching --function main/onOrder", description: "In the background" },
    { command: "weft runs cancel 01890a5d-ac96-774b-bcce-b302099a8057 --cleanup 30s" }
  ])
)

const cancelOne = Effect.fnUntraced(function* (id: string, cleanup: Option.Option<string>) {
  const api = yield* Api
  const output = yield* Output
  const input = Option.match(cleanup, { onNone: () => ({}), onSome: (duration) => ({ cleanup: duration }) })
  const run = yield* api.request((weft, options) => weft.runs.cancel(id, input, options))
  yield* output.line(run, () => `${run.status === "running" ? "Cleaning up" : "Cancelled"} ${run.run_id}`)
})

interface Filters {
  readonly type: Option.Option<"call" | "event" | "schedule" | "run" | "eval" | "repl">
  readonly since: Option.Option<string>
  readonly event: Option.Option<string>
}

const cancelAll = Effect.fnUntraced(function* ({ type, since, event }: Filters) {
  const api = yield* Api
  const output = yield* Output
  const query = {
    type: Option.getOrUndefined(type),
    time_range: Option.getOrUndefined(since),
    event_id: Option.getOrUndefined(event)
  }
  const answer = yield* api.request((weft, options) => weft.runs.cancelAll(query, options))
  yield* output.print(answer, () => `Cancelled ${answer.cancelled} ${answer.cancelled === 1 ? "run" : "runs"}`)
})
