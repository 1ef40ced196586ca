import type { Json, ReplayInput, RunsReplayQuery } from "@weft/client"
import { Effect, Option, Result } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { usageError } from "../../Failure.ts"
import { parseJsonText } from "../../input/JsonText.ts"
import { readText } from "../../input/Text.ts"
import { Output } from "../../output/Output.ts"
import { hasMatchingFlags, matchingFlags, runMatching, toFilter } from "../operations/MatchingFlags.ts"
import { errorFlag, sinceFlag, statusFlag, typeFlag } from "./RunFilters.ts"

const filters = {
  status: statusFlag,
  type: typeFlag,
  since: sinceFlag,
  error: errorFlag,
  event: Flag.String("event").pipe(
    Flag.withMetavar("id"),
    Flag.withDescription("Only runs that this event triggered"),
    Flag.optional
  )
}

export const replay = Command.make(
  "replay",
  {
    run: Argument.String("run").pipe(Argument.withDescription("The id of the run to repeat"), Argument.optional),
    build: Flag.Literals("build", ["same", "deployed"]).pipe(
      Flag.withDescription("The build of the run, or the currently deployed build"),
      Flag.withDefault("same")
    ),
    from: Flag.String("from").pipe(
      Flag.withDescription("The name or position of a step of a durable run: the results before it are kept"),
      Flag.optional
    ),
    data: Flag.String("data").pipe(
      Flag.withMetavar("json"),
      Flag.withDescription("Other data of the event as JSON, as @file, or - for stdin"),
      Flag.optional
    ),
    ...filters,
    ...matchingFlags
  },
  Effect.fnUntraced(function* ({ run, build, from, data, allMatching, status, ...flags }) {
    const matching = { ...flags, waiting: Option.none() }
    if (allMatching) {
      if (Option.isNone(status) || [run, from, data].some(Option.isSome))
        return yield* usageError(
          "--all-matching needs --status, without an id, --from or --data",
          "for example --status failed"
        )
      const filter = { ...toFilter(matching), status: status.value }
      return yield* runMatching({ kind: "replay", filter, options: { build } }, matching)
    }
    const { type, since, event } = matching
    if (Option.isNone(run) || [status, type, since, event].some(Option.isSome) || hasMatchingFlags(matching))
      return yield* usageError("Give the id of a run, or --all-matching with flags that select runs")
    yield* replayOne(run.value, {
      build,
      ...(Option.isSome(from) ? { from: from.value } : {}),
      ...(Option.isSome(data) ? { event_data: yield* parseData(data.value) } : {})
    })
  })
).pipe(
  Command.withDescription("Run the function of a run again, with the same event"),
  Command.withExamples([
    {
      command: "weft runs replay 01970d45-1c90-7a51-9d0c-4a3d2b1c0f6e --build deployed",
      description: "With the currently deployed code"
    },
    {
      command: "weft runs replay 01970d45-1c90-7a51-9d0c-4a3d2b1c0f6e --from charge",
      description: "A durable run, from its step charge"
    },
    {
      command: `weft runs replay 01970d45-1c90-7a51-9d0c-4a3d2b1c0f6e --data '{"total": 21}'`,
      description: "With other data"
    },
    {
      command: "weft runs replay --all-matching --status failed --since 1h --rate 50",
      description: "All failed runs of the last hour, at most 50 per second"
    }
  ])
)

const parseData = Effect.fnUntraced(function* (text: string) {
  const json = text === "-" ? yield* readText("-") : text.startsWith("@") ? yield* readText(text.slice(1)) : text
  return yield* Result.match(parseJsonText(json), {
    onSuccess: (value) => Effect.succeed<Json>(value),
    onFailure: ({ message, remedy }) => Effect.fail(usageError(`The event's data is ${message}`, remedy))
  })
})

const replayOne = Effect.fnUntraced(function* (id: string, query: RunsReplayQuery & ReplayInput) {
  const api = yield* Api
  const output = yield* Output
  const started = yield* api.request((weft, options) => weft.runs.replay(id, query, options))
  yield* output.print(started, () =>
    "run_id" in started ? started.run_id : `No slot is free: the replay is queued as event ${started.event_id}`
  )
  if ("run_id" in started) yield* output.note(`Follow it with: weft logs ${started.run_id} --follow`)
})
