/** Rows of the counts of ended runs by function and minute. */
import { makeRow } from "./Row.ts"

export const minuteCountsRow = makeRow({
  ...{ env_id: "text", at: "integer", project_id: "text", ns: "text", var: "text", node_id: "text" },
  ...{ project_name: "text", succeeded: "integer", failed: "integer", cancelled: "integer", retried: "integer" },
  ...{ wait: "text", duration: "text" }
})
