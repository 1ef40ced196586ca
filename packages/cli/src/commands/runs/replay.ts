import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { Output } from "../../output/Output.ts"

export const replay = Command.make(
  "replay",
  {
    run: Argument.String("run").pipe(Argument.withDescription("The id of the run to repeat")),
    build: Flag.Literals("build", ["same", "deployed"]).pipe(
      Flag.withDescription("The build that the run was of, or the one that is deployed now"),
      Flag.withDefault("same")
    )
  },
  Effect.fnUntraced(function* ({ run: id, build }) {
    const api = yield* Api
    const output = yield* Output
    const begun = yield* api.ask((weft, asking) => weft.runs.replay(id, { build }, asking))
    yield* output.print(begun, () =>
      "run_id" in begun ? begun.run_id : `Too much else is running: it will begin, as a run of event ${begun.event_id}`
    )
    if ("run_id" in begun) yield* output.note(`See it with: weft logs ${begun.run_id} --follow`)
  })
).pipe(
  Command.withDescription("Run the function of a run once more, for the same event"),
  Command.withExamples([
    {
      command: "weft runs replay 01970d45-1c90-7a51-9d0c-4a3d2b1c0f6e --build deployed",
      description: "With the code that is deployed now"
    }
  ])
)
