/**
 * Compression of the API's responses, for clients that ask for it.
 *
 * Responses of functions (webhooks and MCP) are not compressed. They may combine a secret with input of an attacker, and the
 * compressed length then reveals the secret (BREACH). For the same reason, responses with secrets (`no-store`) are not.
 */
import { Effect } from "effect"
import { HttpBody, HttpServerRequest, HttpServerResponse } from "effect/http"
import { chooseCoding } from "../encoding/AcceptEncoding.ts"
import { codings, compress } from "../encoding/Compressor.ts"

/** Minimum size, in bytes. A smaller body fits into one packet anyway. */
const bytesMin = 1024

const types = /^(?:application\/json|application\/openapi\+json|text\/(?:html|plain|css|javascript))\b/

type Response = HttpServerResponse.HttpServerResponse

/** True for paths whose responses are the runtime's own. */
const isOwnPath = (url: string): boolean => url.startsWith("/v1/") || url.startsWith("/metrics")

/** Wraps the app: compresses its own responses. Requests that do not ask for it cost one look-up. */
export const withCompression = <E, R>(app: Effect.Effect<Response, E, R>) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers, url }) => {
    const accepted = headers["accept-encoding"]
    return accepted === undefined || !isOwnPath(url)
      ? app
      : Effect.flatMap(app, (response) => compressResponse(response, accepted))
  })

const compressResponse = (response: Response, accepted: string): Effect.Effect<Response> => {
  const { body, headers } = response
  if (body._tag !== "Uint8Array" || body.contentLength < bytesMin || !types.test(body.contentType)) {
    return Effect.succeed(response)
  }
  // A strong validator is that of the bytes as they are.
  if (headers.etag !== undefined || headers["content-encoding"] !== undefined) return Effect.succeed(response)
  if (/no-store|no-transform/.test(headers["cache-control"] ?? "")) {
    return Effect.succeed(response)
  }
  const varied = HttpServerResponse.setHeader(response, "vary", withVary(headers.vary))
  const coding = chooseCoding(accepted, codings)
  if (coding === null) return Effect.succeed(varied)
  return Effect.map(
    Effect.promise(() => compress(body.body, coding, "fast")),
    (compressed) =>
      HttpServerResponse.setBody(varied, HttpBody.uint8Array(compressed, body.contentType)).pipe(
        HttpServerResponse.setHeader("content-encoding", coding)
      )
  )
}

/** Adds `Accept-Encoding` to the names in a header `Vary`. */
export const withVary = (vary: string | undefined): string =>
  vary === undefined || vary === "" ? "Accept-Encoding" : `${vary}, Accept-Encoding`
