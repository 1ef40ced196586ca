import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { Output } from "../../output/Output.ts"

export const wake = Command.make(
  "wake",
  {
    runs: Argument.String("run").pipe(
      Argument.withDescription("Ids of durable runs that sleep"),
      Argument.variadic({ min: 1 })
    )
  },
  Effect.fnUntraced(function* ({ runs }) {
    const api = yield* Api
    const output = yield* Output
    for (const id of runs) {
      const run = yield* api.request((weft, options) => weft.runs.wake(id, options))
      yield* output.line(run, () => `Woke ${run.run_id}`)
    }
  })
).pipe(
  Command.withDescription("End the sleep or the retry pause of durable runs"),
  Command.withExamples([
    { command: "weft runs wake 01970d45-1c90-7a51-9d0c-4a3d2b1c0f6e", description: "It continues now" }
  ])
)
