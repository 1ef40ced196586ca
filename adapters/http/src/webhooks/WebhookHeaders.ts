/** Which headers of a function's answer are sent on. */
import type { WebhookAnswer } from "@weft/core"
import { originHeaders } from "./SharedOrigin.ts"

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

const withheldOnShared: ReadonlySet<string> = new Set([...withheld, ...originHeaders])

/** Statuses that never have a body (RFC 9110). */
export const hasNoBody = (status: number): boolean => status === 204 || status === 205 || status === 304

/** What is sent of an answer's headers, with the request's id. */
export interface SentHeaders {
  readonly single: Record<string, string>
  /** Values of `set-cookie`, each a header of its own. Null for one or none, which is among `single`. */
  readonly cookies: Array<string> | null
}

/** `isShared`: whether the host is everybody's, and no custom domain. */
export const sentHeaders = (answer: WebhookAnswer, requestId: string, isShared: boolean): SentHeaders => {
  const ours = isShared ? withheldOnShared : withheld
  const single: Record<string, string> = { "x-request-id": requestId }
  let cookies: Array<string> | null = null
  for (const name in answer.headers) {
    const value = answer.headers[name]
    if (value === undefined || ours.has(name)) continue
    if (typeof value === "string") single[name] = value
    else cookies = [...value]
  }
  return { single, cookies }
}
