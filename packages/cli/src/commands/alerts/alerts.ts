/** `weft alerts`: rules about failures, latencies, backlogs and silence. */
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { Output } from "../../output/Output.ts"
import { fieldLines, tableLines } from "../../output/Table.ts"
import { localTime } from "../../output/Times.ts"
import { listingFlags, loadPages, printTable } from "../Lists.ts"
import { formatCondition, formatScope, formatState } from "./AlertText.ts"
import { create } from "./create.ts"

const id = Argument.String("id").pipe(Argument.withDescription("The id of the rule: see `weft alerts list`"))

const list = Command.make(
  "list",
  listingFlags,
  Effect.fnUntraced(function* (options) {
    const api = yield* Api
    const found = yield* api.request((weft, request) => loadPages(options, (page) => weft.alerts.list(page, request)))
    yield* printTable(
      [
        { title: "ID", of: ({ alert_id }) => alert_id },
        { title: "STATE", of: formatState },
        { title: "NAME", of: ({ name }) => name, isFlexible: true },
        { title: "OF", of: formatScope, isFlexible: true },
        { title: "FIRES WHEN", of: formatCondition, isFlexible: true, isExtra: true }
      ],
      found,
      "There are no alert rules"
    )
  })
).pipe(Command.withDescription("List alert rules with their states"))

const show = Command.make(
  "show",
  { id },
  Effect.fnUntraced(function* (options) {
    const api = yield* Api
    const output = yield* Output
    const alert = yield* api.request((weft, request) => weft.alerts.get(options.id, request))
    yield* output.print(alert, () =>
      fieldLines([
        ["name", alert.name],
        ["of", formatScope(alert)],
        ["fires when", formatCondition(alert)],
        ["held for", `${alert.for_minutes} min`],
        [
          "actions",
          alert.actions.map((action) => ("url" in action ? `webhook ${action.url}` : action.type)).join(", ")
        ],
        ["state", `${formatState(alert)} since ${localTime(alert.since)}`],
        ["value", alert.value === null ? "" : String(alert.value)],
        ["evaluated", alert.evaluated_at === null ? "" : localTime(alert.evaluated_at)],
        ["last error", alert.last_error ?? ""]
      ]).join("\n")
    )
  })
).pipe(Command.withDescription("Show an alert rule with its state"))

const remove = Command.make(
  "delete",
  { id },
  Effect.fnUntraced(function* (options) {
    const api = yield* Api
    const output = yield* Output
    yield* api.request((weft, request) => weft.alerts.remove(options.id, request))
    yield* output.print({ alert_id: options.id }, () => `Deleted the alert rule ${options.id}`)
  })
).pipe(Command.withDescription("Delete an alert rule"))

const test = Command.make(
  "test",
  { id },
  Effect.fnUntraced(function* (options) {
    const api = yield* Api
    const output = yield* Output
    const tested = yield* api.request((weft, request) => weft.alerts.test(options.id, request))
    const width = yield* output.columns
    yield* output.print(tested, () =>
      [
        ...tableLines(
          [
            { title: "ACTION", of: ({ action }) => ("url" in action ? `webhook ${action.url}` : action.type) },
            { title: "RESULT", of: ({ error }) => error ?? "ok", isFlexible: true }
          ],
          tested.results,
          width
        ),
        `Secret of its webhooks: ${tested.webhook_secret}`
      ].join("\n")
    )
  })
).pipe(Command.withDescription("Perform the actions of an alert rule now"))

export const alerts = Command.make("alerts").pipe(
  Command.withDescription("Create, list, show, delete and test alert rules"),
  Command.withSubcommands([list, create, show, remove, test])
)
