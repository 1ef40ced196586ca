/** The body of a request as content of a file, streamed with back-pressure. */
import { IncomingMessage } from "node:http"
import type { BadRequest } from "@weft/core"
import type { Content } from "@weft/core/internal"
import { Stream } from "effect"
import type { HttpServerRequest } from "effect/http"
import { nodeBody, unreadableBody } from "./NodeBody.ts"

export const toContent = (request: HttpServerRequest.HttpServerRequest): Content<BadRequest> => ({
  size: declaredSize(request.headers["content-length"]),
  bytes: readBytes(request)
})

/** With `Expect`, the host's server may send `100 Continue` only when `effect` reads the stream. */
const readBytes = (request: HttpServerRequest.HttpServerRequest): Stream.Stream<Uint8Array, BadRequest> =>
  request.source instanceof IncomingMessage && request.headers.expect === undefined
    ? nodeBody(request.source)
    : Stream.mapError(request.stream, () => unreadableBody)

/** Returns null for a body without `Content-Length`. */
const declaredSize = (contentLength: string | undefined): number | null =>
  contentLength !== undefined && /^[0-9]{1,15}$/.test(contentLength) ? Number(contentLength) : null
