/** Which runs are meant. */
import { Flag } from "effect/cli"
import { periodOf } from "../../input/Period.ts"

export const runTypes = ["call", "event", "schedule", "run", "eval", "repl"] as const
export const runStatuses = ["running", "succeeded", "failed", "cancelled"] as const

export const typeFlag = Flag.Literals("type", runTypes).pipe(
  Flag.withDescription("Only runs of this type"),
  Flag.optional
)

export const statusFlag = Flag.Literals("status", runStatuses).pipe(
  Flag.withDescription("Only runs with this status"),
  Flag.optional
)

/** As the API takes it. */
export const sinceFlag = Flag.String("since").pipe(
  Flag.withMetavar("time"),
  Flag.filterMap(periodOf, (text) => `Expected: a time such as 30m, 24h or 7d, or an ISO 8601 duration, not ${text}`),
  Flag.withDescription("Only runs of the last 30m, 24h or 7d, or of an ISO 8601 duration"),
  Flag.optional
)
