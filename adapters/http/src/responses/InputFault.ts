/** Descriptions of invalid requests for their senders: the field and the reason, never the value. */
import { BadRequest } from "@weft/core"
import { Effect, SchemaIssue } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { HttpApiError } from "effect/http-api"
import { findJsonFault } from "./JsonFault.ts"

/** Maximum length of a text that is searched for its fault, which takes about 8 ms. No other request is served meanwhile. */
const searchedLengthMax = 32 * 1024

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** Returns an error with the first issue of a request that could not be decoded. */
export const inputFault = (
  fault: HttpApiError.HttpApiSchemaError,
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<BadRequest> => {
  const issue = format(fault.cause.issue).issues[0]
  const path = (issue?.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".")
  if (path !== "") return Effect.succeed(new BadRequest({ reason: `${path}: ${toReason(issue?.message)}` }))
  return fault.kind === "Payload"
    ? bodyFault(request)
    : Effect.succeed(new BadRequest({ reason: "The request is not valid" }))
}

const toReason = (message = "is not valid"): string => reasons.get(message) ?? message

/** Reasons for messages of Effect. */
const reasons = new Map([
  ["Missing key", "is missing"],
  ["Expected no excess property", "is not a field of this request"]
])

/** Describes a body that is not JSON, or not an object. The request has cached the text of its body. */
const bodyFault = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<BadRequest> =>
  Effect.match(request.text, {
    onFailure: () => new BadRequest({ reason: "The body could not be read" }),
    onSuccess: (text) => {
      const fault = text === "" || text.length > searchedLengthMax ? null : findJsonFault(text)
      return new BadRequest({
        reason:
          fault === null
            ? "The body must be a JSON object"
            : `The body is not JSON: line ${fault.line}, column ${fault.column}`
      })
    }
  })
