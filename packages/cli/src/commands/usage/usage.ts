/** `weft usage`: usage and limits of the organization. */
import type { OrganizationUsage } from "@weft/client"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { Output } from "../../output/Output.ts"
import { bytes } from "../../output/Sizes.ts"
import { type Column, tableLines } from "../../output/Table.ts"
import { localTime } from "../../output/Times.ts"

interface Row {
  readonly what: string
  readonly used: string
  readonly limit: string
  readonly percent: string
}

const columns: ReadonlyArray<Column<Row>> = [
  { title: "WHAT", of: (row) => row.what },
  { title: "USED", of: (row) => row.used, align: "right" },
  { title: "OF", of: (row) => row.limit, align: "right" },
  { title: "%", of: (row) => row.percent, align: "right" }
]

const isUnlimited = (limit: number): boolean => limit === -1

const toRow = (what: string, used: number, limit: number, percent: number, show: (count: number) => string): Row => ({
  what,
  used: show(used),
  limit: isUnlimited(limit) ? "no limit" : show(limit),
  percent: isUnlimited(limit) ? "" : String(percent)
})

const toRows = ({ usage, limits, usage_percent: percent }: OrganizationUsage): ReadonlyArray<Row> => [
  toRow("runs in this period", usage.runs_this_period, limits.runs_per_month, percent.runs, String),
  toRow("files", usage.file_storage_bytes, limits.storage_bytes, percent.file_storage, bytes),
  toRow("results and logs", usage.call_storage_bytes, limits.call_storage_bytes, percent.call_storage, bytes),
  toRow("members", usage.team_members, limits.team_members, percent.team_members, String)
]

export const usage = Command.make(
  "usage",
  {},
  Effect.fnUntraced(function* () {
    const api = yield* Api
    const output = yield* Output
    const result = yield* api.request((weft, options) => weft.env.usage(options))
    const width = yield* output.columns
    const { name, period_start, period_end } = result.plan
    yield* output.print(result, () =>
      [
        `Plan ${name}, ${localTime(period_start)} to ${localTime(period_end)}; ${result.usage.call_count} stored runs`,
        ...tableLines(columns, toRows(result), width)
      ].join("\n")
    )
    if (result.usage_percent.has_warning) yield* output.note(output.paint.yellow("More than 90 % of a limit is used"))
  })
).pipe(
  Command.withDescription("Show usage and limits of the organization's plan"),
  Command.withExamples([{ command: "weft usage --json", description: "For a script" }])
)
