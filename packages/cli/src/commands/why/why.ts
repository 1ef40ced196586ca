import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { Output } from "../../output/Output.ts"
import { waitText } from "../deliveries/WaitText.ts"

export const why = Command.make(
  "why",
  { id: Argument.String("id").pipe(Argument.withDescription("The id of a delivery, run, event or schedule")) },
  Effect.fnUntraced(function* ({ id }) {
    const api = yield* Api
    const output = yield* Output
    const { items } = yield* api.request((weft, options) => weft.deliveries.why(id, options))
    if (items.length === 0 && !output.json) return yield* output.note("Nothing of it waits")
    yield* output.print(items, () =>
      items
        .map(({ object, id, ns, var: name, waiting }) => `${object} ${id} (${ns}/${name}) ${waitText(waiting)}`)
        .join("\n")
    )
  })
).pipe(
  Command.withDescription("Show why a delivery, a run, the deliveries of an event, or a schedule wait"),
  Command.withExamples([{ command: "weft why 01970d45-1c90-7a51-9d0c-4a3d2b1c0f6e" }])
)
