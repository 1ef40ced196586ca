import { Effect } from "effect"
import { Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { Output } from "../../output/Output.ts"
import { fieldLines } from "../../output/Table.ts"

export const stats = Command.make(
  "stats",
  {},
  Effect.fnUntraced(function* () {
    const api = yield* Api
    const output = yield* Output
    const counts = yield* api.request((weft, options) => weft.runs.stats(options))
    yield* output.print(counts, () =>
      fieldLines([
        ["running", String(counts.running)],
        ["succeeded", String(counts.succeeded)],
        ["failed", String(counts.failed)],
        ["cancelled", String(counts.cancelled)],
        ["all", String(counts.total_runs)]
      ]).join("\n")
    )
  })
).pipe(
  Command.withDescription("Count the stored runs by status"),
  Command.withExamples([{ command: "weft runs stats --json", description: "For a script" }])
)
