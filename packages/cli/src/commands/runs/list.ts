import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { listed, listingFlags, printTable } from "../Listing.ts"
import { sinceFlag, statusFlag, typeFlag } from "./RunFilters.ts"
import { runColumns } from "./RunText.ts"

export const list = Command.make(
  "list",
  { ...listingFlags, status: statusFlag, type: typeFlag, since: sinceFlag },
  Effect.fnUntraced(function* ({ status, type, since, ...wanted }) {
    const api = yield* Api
    const query = {
      status: Option.getOrUndefined(status),
      type: Option.getOrUndefined(type),
      time_range: Option.getOrUndefined(since)
    }
    const runs = yield* api.ask((weft, asking) =>
      listed(wanted, (page) => weft.runs.list({ ...query, ...page }, asking))
    )
    yield* printTable(runColumns, runs, "There are no such runs")
  })
).pipe(
  Command.withDescription("List runs, newest first"),
  Command.withExamples([{ command: "weft runs list --status failed --since 24h", description: "What failed today" }])
)
