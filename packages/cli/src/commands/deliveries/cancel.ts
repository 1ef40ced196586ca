import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { usageError } from "../../Failure.ts"
import { switchFlag } from "../../input/Switch.ts"
import { Output } from "../../output/Output.ts"

const flags = {
  all: switchFlag("all", "Cancel all pending deliveries of the environment"),
  project: Flag.String("project").pipe(
    Flag.withMetavar("name"),
    Flag.withDescription("Only of this project, also if it was removed: its id or its name"),
    Flag.optional
  ),
  fn: Flag.String("function").pipe(
    Flag.withMetavar("ns/var"),
    Flag.withDescription("Only of this function: ns/var or project:ns/var"),
    Flag.optional
  ),
  event: Flag.String("event-type").pipe(
    Flag.withMetavar("type"),
    Flag.withDescription("Only of events of this type"),
    Flag.optional
  )
}

export const cancel = Command.make(
  "cancel",
  flags,
  Effect.fnUntraced(function* ({ all, project, fn, event }) {
    if (all === [project, fn, event].some(Option.isSome))
      return yield* usageError(
        "Select the deliveries to cancel",
        "give --project, --function or --event-type, or --all without them"
      )
    const api = yield* Api
    const output = yield* Output
    const query = {
      project: Option.getOrUndefined(project),
      fn: Option.getOrUndefined(fn),
      event_type: Option.getOrUndefined(event)
    }
    const answer = yield* api.request((weft, options) => weft.deliveries.cancel(query, options))
    yield* output.print(
      answer,
      () => `Cancelled ${answer.cancelled} ${answer.cancelled === 1 ? "delivery" : "deliveries"}`
    )
  })
).pipe(
  Command.withDescription("Cancel deliveries that wait for an attempt; running runs continue"),
  Command.withExamples([{ command: "weft deliveries cancel --function main/onOrder" }])
)
