/** The common fields of `event_data` of events that call a function. */
import { Effect, type Schema } from "effect"
import { BadRequest } from "../../foundation/Errors.ts"

export interface CallData {
  /** A function reference. */
  readonly fn: string
  /** All fields; `args`, if given, is an array. */
  readonly fields: ReadonlyMap<string, Schema.Json>
}

export const readCall = (data: Schema.Json): Effect.Effect<CallData, BadRequest> => {
  if (typeof data !== "object" || data === null || Array.isArray(data)) {
    return badRequest("event_data must be an object with fn, a function reference")
  }
  const fields = new Map(Object.entries(data))
  const fn = fields.get("fn")
  if (typeof fn !== "string" || fn === "")
    return badRequest("event_data.fn must be a function reference such as ns/var")
  const args = fields.get("args")
  return args === undefined || Array.isArray(args)
    ? Effect.succeed({ fn, fields })
    : badRequest("event_data.args must be an array")
}

const badRequest = (reason: string): Effect.Effect<never, BadRequest> => Effect.fail(new BadRequest({ reason }))
