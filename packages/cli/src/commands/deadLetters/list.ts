import { Effect } from "effect"
import { Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { Output } from "../../output/Output.ts"
import { printable } from "../../output/Printable.ts"
import { localTime } from "../../output/Times.ts"
import { listingFlags, loadPages, printTable } from "../Lists.ts"
import { filterFlags, readFilters } from "./LetterFlags.ts"

export const list = Command.make(
  "list",
  { ...listingFlags, ...filterFlags },
  Effect.fnUntraced(function* ({ limit, all, ...flags }) {
    const api = yield* Api
    const output = yield* Output
    const filters = yield* readFilters(flags)
    const found = yield* api.request((weft, request) =>
      loadPages({ limit, all }, (page) => weft.deadLetters.list({ ...page, ...filters }, request))
    )
    yield* printTable(
      [
        { title: "LETTER", of: ({ run_id }) => run_id },
        { title: "FUNCTION", of: ({ project_name, ns, var: name }) => `${project_name}:${ns}/${name}` },
        { title: "EVENT", of: ({ event_type }) => event_type, isExtra: true },
        { title: "SINCE", of: ({ dead_since }) => localTime(dead_since) },
        { title: "ATTEMPTS", of: ({ attempt }) => `${attempt}`, align: "right", isExtra: true },
        {
          title: "ERROR",
          of: ({ error }) => (error === null ? "" : printable(`${error.name}: ${error.message}`)),
          isFlexible: true
        }
      ],
      found,
      "No dead letters"
    )
    if (found.items.length > 0) yield* output.note("Start them again with: weft dead-letters redrive --all --dry-run")
  })
).pipe(
  Command.withDescription("List deliveries whose last attempt failed, or that expired"),
  Command.withExamples([{ command: "weft dead-letters list --function main/onOrder --since 24h" }])
)
