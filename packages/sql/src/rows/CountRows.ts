/** Rows of the stored counts: changes that one transaction makes. */
import { makeRow } from "./Row.ts"

/** New events of one type. */
export const eventCountRow = makeRow({ env_id: "text", event_type: "text", n: "integer" })

/** The latest batch of run counts of a node. */
export const countBatchRow = makeRow({ node_id: "text", seq: "integer", at: "integer" })

/** Ended runs of one function type, project and status. `month` is the month of the last start. */
export const runCountRow = makeRow({
  ...{ env_id: "text", project_id: "text", project_name: "text", run_type: "text", status: "text" },
  ...{ n: "integer", bytes: "integer", month: "integer", month_runs: "integer" }
})
