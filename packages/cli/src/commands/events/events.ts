/** `weft events`: publishes, lists, shows and watches events. */
import type { Event } from "@weft/client"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { Output } from "../../output/Output.ts"
import { type Column, fieldLines, tableLines } from "../../output/Table.ts"
import { localTime } from "../../output/Times.ts"
import { plainJson, prettyJson } from "../../output/Values.ts"
import { listingFlags, loadPages, printTable } from "../Lists.ts"
import { runColumns } from "../runs/RunText.ts"
import { publish } from "./publish.ts"
import { watch } from "./watch.ts"

const columns: ReadonlyArray<Column<Event>> = [
  { title: "EVENT", of: (event) => event.event_id },
  { title: "PUBLISHED", of: (event) => localTime(event.created_at) },
  { title: "TYPE", of: (event) => event.event_type, isFlexible: true },
  { title: "DATA", of: (event) => plainJson(event.event_data), isFlexible: true, isExtra: true }
]

const list = Command.make(
  "list",
  listingFlags,
  Effect.fnUntraced(function* (range) {
    const api = yield* Api
    const events = yield* api.request((weft, options) => loadPages(range, (page) => weft.events.list(page, options)))
    yield* printTable(columns, events, "There are no events")
  })
).pipe(
  Command.withDescription("List events, newest first"),
  Command.withExamples([{ command: "weft events list --limit 50" }])
)

const get = Command.make(
  "get",
  { event: Argument.String("event").pipe(Argument.withDescription("The event's id")) },
  Effect.fnUntraced(function* ({ event: id }) {
    const api = yield* Api
    const output = yield* Output
    const event = yield* api.request((weft, options) => weft.events.get(id, options))
    if (output.json) return yield* output.print(event, () => "")
    const runs = yield* api.request((weft, options) =>
      loadPages({ limit: 0, all: true }, () => weft.events.runs(id, {}, options))
    )
    const width = yield* output.columns
    yield* output.print(event, () =>
      [
        ...fieldLines([
          ["event", event.event_id],
          ["type", event.event_type],
          ["published", localTime(event.created_at)],
          ["for", localTime(event.event_time)],
          ["stream", event.stream_id]
        ]),
        "",
        prettyJson(event.event_data),
        ...(runs.items.length === 0 ? [] : ["", ...tableLines(runColumns, runs.items, width)])
      ].join("\n")
    )
    if (runs.items.length === 0) yield* output.note("The event has triggered no runs yet")
  })
).pipe(
  Command.withDescription("Show an event and the runs that it triggered"),
  Command.withExamples([{ command: "weft events get 01970d44-1c90-7a51-9d0c-4a3d2b1c0f6e" }])
)

export const events = Command.make("events").pipe(
  Command.withDescription("Publish, list, show and watch events"),
  Command.withSubcommands([publish, list, get, watch])
)
