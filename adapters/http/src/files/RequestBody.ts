/** The body of a request as content of a file: streamed, as fast as it is taken. */
import { BadRequest, type Content, markDisposable } from "@weft/core"
import { Stream } from "effect"
import type { HttpServerRequest } from "effect/http"

export const contentOf = (request: HttpServerRequest.HttpServerRequest): Content<BadRequest> => ({
  size: announcedSize(request.headers["content-length"]),
  bytes: Stream.map(
    Stream.mapError(request.stream, () => torn),
    markDisposable
  )
})

/** Null for a body whose length only its end tells. */
const announcedSize = (contentLength: string | undefined): number | null =>
  contentLength !== undefined && /^[0-9]{1,15}$/.test(contentLength) ? Number(contentLength) : null

const torn = new BadRequest({ reason: "The body could not be read" })
