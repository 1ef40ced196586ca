/**
 * The decisions about a webhook request, for both transports: the fast path on `node:http` and the route on `effect`.
 * Transports read requests and write responses. Credentials, permissions and limits are decided in core's `Webhooks`.
 */
import { type BadRequest, type DomainRoutes, NotFound } from "@weft/core"
import type { DomainRoute } from "@weft/core/adapter"
import type { WebhookAnswer, WebhookCall } from "@weft/core/internal"
import { bearerToken } from "../access/BearerToken.ts"
import { badQuery, hasUtf8Query } from "../encoding/UrlEncoding.ts"
import { addSandbox, isServiceWorkerRequest, originHeaders } from "./SharedOrigin.ts"
import {
  type BodyStep,
  parseDomainTarget,
  parseWebhookTarget,
  type WebhookTarget,
  webhookMethods,
  webhookPrefix,
  webhookRoute
} from "./WebhookTarget.ts"

/** Headers with lowercase names, of `node:http` or of `effect`. */
export type RequestHeaders = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** The part of a request that precedes its body. Requests of `node:http` and of `effect` have this shape. */
export interface RequestHead {
  readonly method?: string | undefined
  /** Path and query. */
  readonly url?: string | undefined
  readonly headers: RequestHeaders
}

/** A request that no endpoint can receive, or whose query cannot be decoded. Its body is not read. */
export interface Reject {
  readonly _tag: "Reject"
  readonly error: NotFound | BadRequest
  /** Route in metrics and spans; null for paths outside the webhooks of a custom domain. */
  readonly route: string | null
}

/** A rejection, or the target of a call. The tag of a target is the next step, which depends on the body. */
export type WebhookDecision = Reject | WebhookTarget

const routeNotFound = new NotFound({ resource: "route" })

const rejected: Reject = { _tag: "Reject", error: routeNotFound, route: webhookRoute }
const rejectedQuery: Reject = { _tag: "Reject", error: badQuery, route: webhookRoute }
const rejectedPath: Reject = { _tag: "Reject", error: routeNotFound, route: null }

/** True if a path is below `/webhook/`. */
export const isWebhookPath = (url: string): boolean => url.startsWith(webhookPrefix)

/** Returns the host that a request names, or null. */
export const requestedHost = (headers: RequestHeaders, trustProxy: boolean): string | null => {
  const forwarded = trustProxy ? headers["x-forwarded-host"] : undefined
  if (typeof forwarded === "string" && forwarded !== "") return (forwarded.split(",")[0] ?? "").trim()
  return typeof headers.host === "string" ? headers.host : null
}

/**
 * Returns the route of a host: null for the shared origin, or undefined if the cached routes have expired, so that
 * `DomainRoutes.resolve` is necessary.
 */
export const findCachedRoute = (
  routes: DomainRoutes["Service"],
  host: string | null
): DomainRoute | null | undefined => (host === null ? null : routes.getCached(host))

/**
 * Decides about a request of `node:http` or `effect` without reading its body.
 *
 * @param route the route of the custom domain; null for the shared origin
 * @param hasBody for requests of a server, `declaresBody`
 */
export const decideWebhook = (
  head: RequestHead,
  route: DomainRoute | null,
  hasBody: boolean,
  maxBodyBytes: number
): WebhookDecision => {
  const { method = "", url = "", headers } = head
  const step = hasBody ? decideBody(headers, maxBodyBytes) : "Invoke"
  if (route !== null) {
    const target = isWebhookPath(url) ? parseDomainTarget(url, route, step) : null
    if (target === null) return rejectedPath
    return webhookMethods.has(method) ? acceptQuery(url, target) : rejected
  }
  // A router may decode `/%77ebhook/`, but paths match as they are written.
  if (!isWebhookPath(url) || !webhookMethods.has(method) || isServiceWorkerRequest(headers)) return rejected
  const target = parseWebhookTarget(url, step)
  return target === null ? rejected : acceptQuery(url, target)
}

/** The function gets only the decoded query, so one that is not UTF-8 would be lost. */
const acceptQuery = (url: string, target: WebhookTarget): WebhookDecision =>
  hasUtf8Query(url) ? target : rejectedQuery

/** True if the headers declare a body that is not empty. */
export const declaresBody = (headers: RequestHeaders): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) !== 0

const decideBody = (headers: RequestHeaders, maxBytes: number): BodyStep => {
  const length = headers["content-length"]
  if (Number(length ?? 0) > maxBytes) return "RefuseBody"
  return length === undefined || headers["transfer-encoding"] !== undefined ? "CountBody" : "ReadBody"
}

/** Builds the call of a target. An empty body is the same as none. */
export const buildCall = (
  target: WebhookTarget,
  method: string,
  headers: Readonly<Record<string, string>>,
  remoteIp: string,
  body: Uint8Array | null
): WebhookCall => ({
  org: target.org,
  env: target.env,
  service: target.service,
  path: target.path,
  method,
  url: target.url,
  query: target.query,
  headers,
  body: body === null || body.length === 0 ? null : body,
  remoteIp,
  token: bearerToken(headers.authorization)
})

/** The parts of a response that transports write. */
export interface WebhookResponse {
  readonly status: number
  /** Includes the request's id. */
  readonly headers: Record<string, string>
  /** Values of several `set-cookie` headers. Null for at most one, which is in `headers`. */
  readonly cookies: Array<string> | null
  /** Null for statuses that never have a body. */
  readonly body: string | Uint8Array | null
}

/**
 * Converts a function's result to a response. `isShared` is true if the host is no custom domain, and `isByConsole` if the
 * console is on the same host.
 */
export const toWebhookResponse = (
  answer: WebhookAnswer,
  requestId: string,
  isShared: boolean,
  isByConsole: boolean
): WebhookResponse => {
  const { status } = answer
  const excluded = isShared ? droppedOnShared : dropped
  const headers: Record<string, string> = { "x-request-id": requestId }
  let cookies: Array<string> | null = null
  for (const name in answer.headers) {
    const value = answer.headers[name]
    if (value === undefined || excluded.has(name)) continue
    if (typeof value === "string") headers[name] = value
    else cookies = [...value]
  }
  if (isShared && isByConsole) addSandbox(headers)
  return { status, headers, cookies, body: hasNoBody(status) ? null : answer.body }
}

/** Headers of the connection, and headers that the server sets itself. */
const dropped: ReadonlySet<string> = new Set([
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

const droppedOnShared: ReadonlySet<string> = new Set([...dropped, ...originHeaders])

/** Statuses that never have a body (RFC 9110). */
const hasNoBody = (status: number): boolean => status === 204 || status === 205 || status === 304
