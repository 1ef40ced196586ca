import type { Json } from "@weft/client"
import { Effect, Option, Result } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { usageError } from "../../Failure.ts"
import { parseJsonText } from "../../input/JsonText.ts"
import { readText } from "../../input/Text.ts"
import { Output } from "../../output/Output.ts"

export const replay = Command.make(
  "replay",
  {
    run: Argument.String("run").pipe(Argument.withDescription("The id of the run to repeat")),
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
    )
  },
  Effect.fnUntraced(function* ({ run: id, build, from, data }) {
    const api = yield* Api
    const output = yield* Output
    const query = {
      build,
      ...(Option.isSome(from) ? { from: from.value } : {}),
      ...(Option.isSome(data) ? { event_data: yield* parseData(data.value) } : {})
    }
    const started = yield* api.request((weft, options) => weft.runs.replay(id, query, options))
    yield* output.print(started, () =>
      "run_id" in started ? started.run_id : `No slot is free: the replay is queued as event ${started.event_id}`
    )
    if ("run_id" in started) yield* output.note(`Follow it with: weft logs ${started.run_id} --follow`)
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
