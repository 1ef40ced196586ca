import { Effect } from "effect"
import { Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { listingFlags, loadPages, printTable } from "../Lists.ts"
import { describeTarget } from "./TargetFlags.ts"

export const pauses = Command.make(
  "pauses",
  listingFlags,
  Effect.fnUntraced(function* (options) {
    const api = yield* Api
    const found = yield* api.request((weft, request) => loadPages(options, (page) => weft.pauses.list(page, request)))
    yield* printTable(
      [
        { title: "PAUSED", of: describeTarget, isFlexible: true },
        { title: "SINCE", of: ({ paused_at }) => paused_at },
        { title: "BY", of: ({ paused_by }) => paused_by },
        { title: "SCHEDULES", of: ({ schedules }) => schedules }
      ],
      found,
      "Nothing is paused"
    )
  })
).pipe(
  Command.withDescription("List pauses, with their times and credentials"),
  Command.withExamples([{ command: "weft pauses" }])
)
