import { Effect } from "effect"
import { Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { usageError } from "../../Failure.ts"
import { Output } from "../../output/Output.ts"
import { loadPages } from "../Lists.ts"
import { describeTarget, isPauseOf, readTarget, targetFlags } from "./TargetFlags.ts"

export const resume = Command.make(
  "resume",
  targetFlags,
  Effect.fnUntraced(function* (flags) {
    const target = yield* readTarget(flags)
    const api = yield* Api
    const output = yield* Output
    const { items } = yield* api.request((weft, options) =>
      loadPages({ limit: 1, all: true }, (page) => weft.pauses.list(page, options))
    )
    const found = items.find((pause) => isPauseOf(pause, target))
    if (found === undefined) return yield* usageError("It is not paused", "`weft pauses` lists what is paused")
    yield* api.request((weft, options) => weft.pauses.remove(found.pause_id, options))
    yield* output.print(found, () => `Resumed ${describeTarget(found)}`)
  })
).pipe(
  Command.withDescription("End a pause: the kept deliveries start"),
  Command.withExamples([{ command: "weft resume shop:main/onOrder" }, { command: "weft resume --all" }])
)
