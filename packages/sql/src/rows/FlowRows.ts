/** Rows of the table `flow_states`. */
import { makeRow } from "./Row.ts"

export const flowStateRow = makeRow({ env_id: "text", key: "text", expires_at: "integer", state: "text" })
