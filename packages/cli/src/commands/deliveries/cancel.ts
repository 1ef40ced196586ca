import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { usageError } from "../../Failure.ts"
import { switchFlag } from "../../input/Switch.ts"
import { Output } from "../../output/Output.ts"
import { selectionFlags } from "./SelectionFlags.ts"

const flags = {
  all: switchFlag("all", "Cancel all pending deliveries of the environment"),
  dryRun: switchFlag("dry-run", "Cancel nothing, and print the number of deliveries"),
  ...selectionFlags
}

export const cancel = Command.make(
  "cancel",
  flags,
  Effect.fnUntraced(function* ({ all, dryRun, project, fn, event }) {
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
      event_type: Option.getOrUndefined(event),
      ...(dryRun ? { dry_run: "true" as const } : {})
    }
    const answer = yield* api.request((weft, options) => weft.deliveries.cancel(query, options))
    yield* output.print(answer, () =>
      dryRun ? `Would cancel ${count(answer.matched ?? 0)}` : `Cancelled ${count(answer.cancelled)}`
    )
  })
).pipe(
  Command.withDescription("Cancel deliveries that wait for an attempt; running runs continue"),
  Command.withExamples([
    { command: "weft deliveries cancel --function main/onOrder --dry-run" },
    { command: "weft deliveries cancel --function main/onOrder" }
  ])
)

const count = (n: number): string => `${n} ${n === 1 ? "delivery" : "deliveries"}`
