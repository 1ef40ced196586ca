import type { Json } from "@weft/client"
import { Effect, Result } from "effect"
import { Argument, Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { usageError } from "../../Failure.ts"
import { parseJsonText } from "../../input/JsonText.ts"
import { readStdin } from "../../input/Text.ts"
import { Output } from "../../output/Output.ts"

export const complete = Command.make(
  "complete",
  {
    run: Argument.String("run").pipe(Argument.withDescription("The id of the durable run")),
    name: Argument.String("name").pipe(Argument.withDescription("The name of the token in svc.createToken")),
    data: Argument.String("data").pipe(
      Argument.withDescription("What the function receives, as JSON, or - for stdin; null by default"),
      Argument.withDefault("null")
    )
  },
  Effect.fnUntraced(function* ({ run, name, data }) {
    const api = yield* Api
    const output = yield* Output
    const input = { data: yield* parseData(data) }
    const token = yield* api.request((weft, options) => weft.runs.completeToken(run, name, input, options))
    yield* output.print(token, () => `Completed ${token.name}`)
  })
).pipe(
  Command.withDescription("Complete a token of a run, so that its function continues"),
  Command.withExamples([
    { command: `weft tokens complete 01970d45-1c90-7a51-9d0c-4a3d2b1c0f6e approval '{"approved": true}'` }
  ])
)

const parseData = Effect.fnUntraced(function* (text: string) {
  return yield* Result.match(parseJsonText(text === "-" ? yield* readStdin : text), {
    onSuccess: (value) => Effect.succeed<Json>(value),
    onFailure: ({ message, remedy }) => Effect.fail(usageError(`The data of the token is ${message}`, remedy))
  })
})
