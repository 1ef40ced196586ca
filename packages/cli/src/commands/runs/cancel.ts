import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { misuse } from "../../Failure.ts"
import { switchFlag } from "../../input/Switch.ts"
import { Output } from "../../output/Output.ts"
import { sinceFlag, typeFlag } from "./RunFilters.ts"

const flags = {
  runs: Argument.String("run").pipe(Argument.withDescription("Ids of running runs"), Argument.variadic()),
  all: switchFlag("all", "Cancel all that are running, or those that the other flags mean"),
  type: typeFlag,
  since: sinceFlag,
  event: Flag.String("event").pipe(
    Flag.withMetavar("id"),
    Flag.withDescription("Only runs that this event set off"),
    Flag.optional
  )
}

export const cancel = Command.make(
  "cancel",
  flags,
  Effect.fnUntraced(function* ({ runs, all, type, since, event }) {
    const isFiltered = [type, since, event].some(Option.isSome)
    if (all === runs.length > 0) {
      return yield* misuse(
        "Which runs are to be cancelled?",
        isFiltered ? "--type, --since and --event go with --all" : "name their ids, or give --all"
      )
    }
    if (isFiltered && !all) return yield* misuse("--type, --since and --event choose among --all", "leave out the ids")
    yield* all ? cancelAll({ type, since, event }) : Effect.forEach(runs, cancelOne, { discard: true })
  })
).pipe(
  Command.withDescription("Cancel running runs, for good: nothing is tried again"),
  Command.withExamples([{ command: "weft runs cancel --all --type call --since 1h" }])
)

const cancelOne = Effect.fnUntraced(function* (id: string) {
  const api = yield* Api
  const output = yield* Output
  const run = yield* api.ask((weft, asking) => weft.runs.cancel(id, asking))
  yield* output.line(run, () => `Cancelled ${run.run_id}`)
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
  const answer = yield* api.ask((weft, asking) => weft.runs.cancelAll(query, asking))
  yield* output.print(answer, () => `Cancelled ${answer.cancelled} ${answer.cancelled === 1 ? "run" : "runs"}`)
})
