import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { listingFlags, loadPages, printTable } from "../Lists.ts"
import { selectionFlags } from "./SelectionFlags.ts"
import { waitText } from "./WaitText.ts"

export const list = Command.make(
  "list",
  { ...listingFlags, ...selectionFlags },
  Effect.fnUntraced(function* ({ project, fn, event, ...options }) {
    const api = yield* Api
    const query = {
      ...(Option.isNone(project) ? {} : { project: project.value }),
      ...(Option.isNone(fn) ? {} : { fn: fn.value }),
      ...(Option.isNone(event) ? {} : { event_type: event.value })
    }
    const found = yield* api.request((weft, request) =>
      loadPages(options, (page) => weft.deliveries.list({ ...page, ...query }, request))
    )
    yield* printTable(
      [
        { title: "DELIVERY", of: ({ delivery_id }) => delivery_id },
        { title: "FUNCTION", of: ({ project_name, ns, var: name }) => `${project_name}:${ns}/${name}` },
        { title: "EVENT", of: ({ event_type }) => event_type, isFlexible: true },
        { title: "ATTEMPT", of: ({ attempt }) => `${attempt}`, align: "right" },
        { title: "WAITS", of: ({ waiting }) => waitText(waiting) }
      ],
      found,
      "No deliveries wait"
    )
  })
).pipe(
  Command.withDescription("List deliveries that wait, and why"),
  Command.withExamples([{ command: "weft deliveries list --function main/onOrder" }])
)
