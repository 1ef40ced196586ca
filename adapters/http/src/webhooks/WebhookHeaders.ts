/** Which headers of a function's answer are sent on. */
import type { WebhookAnswer } from "@weft/core"

/** What belongs to the connection, or is this server's to say. */
const withheld: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "x-request-id"
])

/** Statuses that never have a body (RFC 9110). */
export const hasNoBody = (status: number): boolean => status === 204 || status === 205 || status === 304

/** The headers of the answer that may be sent, with the request's id. */
export const sentHeaders = (answer: WebhookAnswer, requestId: string): Record<string, string> => {
  const headers: Record<string, string> = { "x-request-id": requestId }
  for (const name in answer.headers) {
    const value = answer.headers[name]
    if (value !== undefined && !withheld.has(name)) headers[name] = value
  }
  return headers
}
