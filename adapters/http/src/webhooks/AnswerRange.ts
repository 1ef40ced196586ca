/** Ranges of files that functions return (RFC 9110, section 14). */
import { parseRange } from "../files/ByteRanges.ts"
import type { RequestHeaders, WebhookResponse } from "./WebhookDecision.ts"

/**
 * Returns the requested range of a response with status 200, or the whole response.
 *
 * A file is a body of bytes, or a text with `accept-ranges: bytes`. Functions that answer ranges themselves return 206, which
 * stays as it is. Several ranges are answered whole.
 */
export const selectRange = (
  response: WebhookResponse,
  method: string,
  { range, "if-range": condition }: RequestHeaders
): WebhookResponse => {
  const { status, headers, body } = response
  if (typeof range !== "string" || method !== "GET" || status !== 200 || body === null) return response
  const accepted = headers["accept-ranges"]?.toLowerCase()
  const isFile = accepted === undefined ? body instanceof Uint8Array : accepted === "bytes"
  if (!isFile || !matchesCondition(headers, condition)) return response
  const bytes = typeof body === "string" ? Buffer.from(body) : body
  const requested = parseRange(range, bytes.length)
  if (requested._tag === "Whole") return response
  if (requested._tag === "Unsatisfiable") {
    const { "content-type": _, ...kept } = headers
    return {
      ...response,
      status: 416,
      headers: { ...kept, "accept-ranges": "bytes", "content-range": `bytes */${bytes.length}` },
      body: ""
    }
  }
  const { start, end } = requested.range
  return {
    ...response,
    status: 206,
    headers: { ...headers, "accept-ranges": "bytes", "content-range": `bytes ${start}-${end - 1}/${bytes.length}` },
    body: bytes.subarray(start, end)
  }
}

/**
 * True without `If-Range`, or if its strong entity tag is that of the response. A date never matches: functions do not
 * guarantee that their content changes at most once a second.
 */
const matchesCondition = ({ etag }: WebhookResponse["headers"], condition: RequestHeaders[string]): boolean =>
  condition === undefined || (typeof condition === "string" && condition.startsWith('"') && condition.trim() === etag)
