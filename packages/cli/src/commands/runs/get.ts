import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { Output } from "../../output/Output.ts"
import { runText } from "./RunText.ts"

export const get = Command.make(
  "get",
  { run: Argument.String("run").pipe(Argument.withDescription("The run's id")) },
  Effect.fnUntraced(function* ({ run: id }) {
    const api = yield* Api
    const output = yield* Output
    const [run, usage] = yield* api.request((weft, options) =>
      Promise.all([weft.runs.get(id, options), weft.runs.usage(id, options)])
    )
    yield* output.print(run, () => runText(run, usage, output.paint))
  })
).pipe(
  Command.withDescription("Show a run and its result"),
  Command.withExamples([
    {
      command: "weft runs get 01970d45-1c90-7a51-9d0c-4a3d2b1c0f6e",
      description: "With its result, or its error and stack"
    }
  ])
)
