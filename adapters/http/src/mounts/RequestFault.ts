/** Faults of requests that Node's parser accepts, and that no endpoint may receive. */
import type { IncomingMessage } from "node:http"
import { TLSSocket } from "node:tls"
import { hostOfHeader } from "@weft/core/adapter"
import { requestedHost } from "../webhooks/WebhookDecision.ts"

export interface RequestFault {
  readonly status: 400 | 421
  readonly message: string
}

/** Maximum headers of a request. Node limits only their bytes. */
export const headersMax = 200

/**
 * Returns why servers and proxies may disagree about a request (RFC 9112, 11.2), or null for a valid one. The connection of
 * an ambiguous request must be closed.
 */
export const requestFault = ({ httpVersion, rawHeaders, headers }: IncomingMessage): RequestFault | null => {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") return badRequest("This is not HTTP/1.1")
  // Node omits further headers from `headers`.
  if (rawHeaders.length > 2 * headersMax) return badRequest("There are too many headers")
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === "host") hosts++
  }
  // Node uses the first of several; a proxy may use another.
  if (hosts > 1) return badRequest("The header Host appears more than once")
  if (httpVersion === "1.1") return hosts === 0 ? badRequest("The header Host is missing") : null
  // HTTP/1.0 has no chunks, so a proxy may forward them as another request (RFC 9112, 6.1).
  return headers["transfer-encoding"] === undefined
    ? null
    : badRequest("HTTP/1.0 does not support the header Transfer-Encoding")
}

/**
 * Returns a fault if the request is for another host than that of its TLS connection; null without TLS. Otherwise the owner
 * of one domain could hide requests to another tenant behind that name, and each tenant's certificate would vouch for all
 * others.
 */
export const misdirectionFault = ({ headers, socket }: IncomingMessage, trustProxy: boolean): RequestFault | null => {
  if (!(socket instanceof TLSSocket)) return null
  const host = requestedHost(headers, trustProxy)
  const name = socket.servername
  return host !== null && typeof name === "string" && hostOfHeader(host) === hostOfHeader(name) ? null : misdirected
}

const badRequest = (message: string): RequestFault => ({ status: 400, message })

const misdirected: RequestFault = {
  status: 421,
  message: "The host differs from the server name of the TLS connection; open a connection for that host"
}
