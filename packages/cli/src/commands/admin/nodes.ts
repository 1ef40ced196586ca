import type { NodeSummary } from "@weft/client"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import type { Column } from "../../output/Table.ts"
import { localTime } from "../../output/Times.ts"
import { listingFlags, loadPages, printTable } from "../Lists.ts"

const columns: ReadonlyArray<Column<NodeSummary>> = [
  { title: "ID", of: (node) => node.node_id },
  { title: "VERSION", of: (node) => node.version ?? "-" },
  { title: "STARTED", of: (node) => localTime(node.start_time) },
  { title: "RUNNING", of: (node) => `${node.deliveries_running} of ${node.deliveries_max}` },
  { title: "COMMIT", of: (node) => node.git_sha ?? "-", isExtra: true }
]

export const nodes = Command.make(
  "nodes",
  listingFlags,
  Effect.fnUntraced(function* (range) {
    const api = yield* Api
    const found = yield* api.requestAdmin((admin, options) =>
      loadPages(range, (page) => admin.listNodes(page, options))
    )
    yield* printTable(columns, found, "No node answered")
  })
).pipe(
  Command.withDescription("List the nodes that answer within half a second"),
  Command.withExamples([{ command: "weft admin nodes --json" }])
)
