/** The body of a request as content of a file: streamed, as fast as it is taken. */
import { IncomingMessage } from "node:http"
import type { BadRequest, Content } from "@weft/core"
import { Stream } from "effect"
import type { HttpServerRequest } from "effect/http"
import { nodeBody, torn } from "./NodeBody.ts"

export const contentOf = (request: HttpServerRequest.HttpServerRequest): Content<BadRequest> => ({
  size: announcedSize(request.headers["content-length"]),
  bytes: bytesOf(request)
})

/** A host's own server may wait for `effect` to read before it lets a client send, which it was asked to announce. */
const bytesOf = (request: HttpServerRequest.HttpServerRequest): Stream.Stream<Uint8Array, BadRequest> =>
  request.source instanceof IncomingMessage && request.headers.expect === undefined
    ? nodeBody(request.source)
    : Stream.mapError(request.stream, () => torn)

/** Null for a body whose length only its end tells. */
const announcedSize = (contentLength: string | undefined): number | null =>
  contentLength !== undefined && /^[0-9]{1,15}$/.test(contentLength) ? Number(contentLength) : null
