/** Flags that filter runs. */
import { Flag } from "effect/cli"
import { parsePeriod } from "../../input/Period.ts"

const runTypes = ["call", "event", "schedule", "run", "eval", "repl"] as const
const runStatuses = ["running", "succeeded", "failed", "cancelled"] as const

export const typeFlag = Flag.Literals("type", runTypes).pipe(
  Flag.withDescription("Only runs of this type"),
  Flag.optional
)

export const statusFlag = Flag.Literals("status", runStatuses).pipe(
  Flag.withDescription("Only runs with this status"),
  Flag.optional
)

const waitingReasons = ["timer", "event", "retry", "token", "run", "node", "any"] as const

export const waitingFlag = Flag.Literals("waiting", waitingReasons).pipe(
  Flag.withDescription("Only durable runs that are suspended and wait for this"),
  Flag.optional
)

export const projectFlag = Flag.String("project").pipe(
  Flag.withMetavar("project"),
  Flag.withDescription("Only runs of this project, by its id, or its name at that time"),
  Flag.optional
)

export const functionFlag = Flag.String("fn").pipe(
  Flag.withMetavar("function"),
  Flag.withDescription("Only runs of this function: ns/name, or project:ns/name"),
  Flag.optional
)

export const errorFlag = Flag.String("error").pipe(
  Flag.withMetavar("text"),
  Flag.withDescription("Only failed runs with this text in the name or message of their error"),
  Flag.optional
)

/** Its value is an ISO 8601 duration, the format of the API. */
export const sinceFlag = Flag.String("since").pipe(
  Flag.withMetavar("time"),
  Flag.filterMap(
    parsePeriod,
    (text) => `Expected: a time such as 30m, 24h or 7d, or an ISO 8601 duration, not ${text}`
  ),
  Flag.withDescription("Only runs of the last 30m, 24h or 7d, or of an ISO 8601 duration"),
  Flag.optional
)
