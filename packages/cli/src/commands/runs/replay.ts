import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
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
    )
  },
  Effect.fnUntraced(function* ({ run: id, build, from }) {
    const api = yield* Api
    const output = yield* Output
    const query = { build, ...(Option.isSome(from) ? { from: from.value } : {}) }
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
    }
  ])
)
