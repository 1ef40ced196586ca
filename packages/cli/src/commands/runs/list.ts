import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { listingFlags, loadPages, printTable } from "../Lists.ts"
import { errorFlag, functionFlag, projectFlag, sinceFlag, statusFlag, typeFlag, waitingFlag } from "./RunFilters.ts"
import { runColumns } from "./RunText.ts"

export const list = Command.make(
  "list",
  {
    ...listingFlags,
    ...{ status: statusFlag, type: typeFlag, since: sinceFlag, waiting: waitingFlag },
    ...{ project: projectFlag, fn: functionFlag, error: errorFlag }
  },
  Effect.fnUntraced(function* ({ status, type, since, waiting, project, fn, error, ...range }) {
    const api = yield* Api
    const query = {
      status: Option.getOrUndefined(status),
      type: Option.getOrUndefined(type),
      time_range: Option.getOrUndefined(since),
      waiting: Option.getOrUndefined(waiting),
      project: Option.getOrUndefined(project),
      fn: Option.getOrUndefined(fn),
      error: Option.getOrUndefined(error)
    }
    const runs = yield* api.request((weft, options) =>
      loadPages(range, (page) => weft.runs.list({ ...query, ...page }, options))
    )
    yield* printTable(runColumns, runs, "No runs match")
  })
).pipe(
  Command.withDescription("List runs, newest first"),
  Command.withExamples([
    { command: "weft runs list --status failed --since 24h", description: "Failed runs of the last 24 hours" },
    {
      command: "weft runs list --fn orders/charge --error timeout",
      description: "Failures of a function, by their text"
    }
  ])
)
