/** Responses independent of the transport. */
import { HttpServerResponse } from "effect/http"

export interface PlainResponse {
  readonly status: number
  /** Lowercase names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
}

export const toResponse = ({ status, headers, body }: PlainResponse): HttpServerResponse.HttpServerResponse => {
  const contentType = headers["content-type"]
  const options = { status, headers, ...(contentType === undefined ? {} : { contentType }) }
  return typeof body === "string"
    ? HttpServerResponse.text(body, options)
    : HttpServerResponse.uint8Array(body, options)
}
