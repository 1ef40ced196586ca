/** What is wrong with the shape of a request, in words for who sent it: the field and the reason, never the value. */
import { BadRequest } from "@weft/core"
import { Effect, SchemaIssue } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { HttpApiError } from "effect/http-api"
import { findJsonFault } from "./JsonFault.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** The first issue of a request that could not be decoded. */
export const inputFault = (
  fault: HttpApiError.HttpApiSchemaError,
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<BadRequest> => {
  const issue = format(fault.cause.issue).issues[0]
  const path = (issue?.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".")
  if (path !== "") return Effect.succeed(new BadRequest({ reason: `${path}: ${reasonOf(issue?.message)}` }))
  return fault.kind === "Payload"
    ? bodyFault(request)
    : Effect.succeed(new BadRequest({ reason: "The request is not valid" }))
}

const reasonOf = (message: string | undefined): string =>
  message === "Missing key" ? "is missing" : (message ?? "is not valid")

/** The body as a whole is wrong: not JSON, or not an object. Its text was read before and is still at hand. */
const bodyFault = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<BadRequest> =>
  Effect.match(request.text, {
    onFailure: () => new BadRequest({ reason: "The body could not be read" }),
    onSuccess: (text) => {
      const fault = text === "" ? null : findJsonFault(text)
      return new BadRequest({
        reason:
          fault === null
            ? "The body must be a JSON object"
            : `The body is not JSON: line ${fault.line}, column ${fault.column}`
      })
    }
  })
