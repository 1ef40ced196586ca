/**
 * The request that a webhook function receives (specification, "Webhook endpoint definition"; decisions section 9).
 *
 * Pure: converts the HTTP request to JSON text, for the function, and masked for the run's log.
 */
import { Base64 } from "effect/encoding"
import { hasMoreContainers } from "../../foundation/JsonDepth.ts"
import { JsonText } from "../../foundation/JsonText.ts"
import { utf8DecodeStrict } from "../../foundation/Utf8.ts"
import type { RequestBody } from "../../platform/sandbox/RequestBody.ts"
import { callerJson, type Identity } from "../../tenants/access/Caller.ts"
import type { WebhookCall } from "./WebhookCall.ts"

export interface DescribedRequest {
  /** JSON text of `svc` without `run`: the request and the caller. */
  readonly facts: string
  /** Value of `body` and `body-raw`, separate because it may be large; null without a body. */
  readonly body: RequestBody | null
  /**
   * The request for the run's log: without body, with masked credentials (specification, "Webhook routes", rule 5).
   */
  readonly logged: JsonText
}

/**
 * Returns the JSON texts and the body of a request.
 *
 * @param secretHeaders lowercase names of headers to mask in the log
 */
export const describeRequest = (
  call: WebhookCall,
  caller: Identity | null,
  secretHeaders: ReadonlyArray<string>
): DescribedRequest => {
  const { method, url, headers, query } = call
  const visible = { method, url, headers, query, ip: readClientIp(call) }
  const head = JSON.stringify(caller === null ? visible : { ...visible, auth: toAuth(caller) })
  const body = decodeBody(call)
  const request = `${head.slice(0, -1)},"body":null,"body-raw":""}`
  const masked = maskHeaders(headers, secretHeaders)
  const auth = caller === null ? {} : { auth: maskValues(toAuth(caller)) }
  // Most requests contain nothing to mask, so their text is used twice.
  const logged =
    masked === null && caller === null ? head : JSON.stringify({ ...visible, headers: masked ?? headers, ...auth })
  return {
    facts: `{"request":${request},"caller":${callerJson(caller)}}`,
    body,
    logged: JsonText.make(logged, { disableChecks: true })
  }
}

const alwaysMasked = new Set(["authorization", "cookie", "proxy-authorization", "set-cookie"])
const mask = "***"

/** Returns the headers with secrets masked, or null if none needs it. */
const maskHeaders = (
  headers: Readonly<Record<string, string>>,
  secretHeaders: ReadonlyArray<string>
): Record<string, string> | null => {
  let masked: Record<string, string> | null = null
  for (const name in headers) {
    if (!alwaysMasked.has(name) && !secretHeaders.includes(name)) continue
    masked ??= { ...headers }
    masked[name] = mask
  }
  return masked
}

const maskValues = (facts: object): Record<string, string> =>
  Object.fromEntries(Object.keys(facts).map((name) => [name, mask]))

/** Returns the first address of `x-forwarded-for`, otherwise `x-real-ip`, otherwise the socket's. */
const readClientIp = (call: WebhookCall): string => {
  const forwarded = call.headers["x-forwarded-for"]?.split(",")[0]?.trim()
  return forwarded || call.headers["x-real-ip"]?.trim() || call.remoteIp
}

const toAuth = (caller: Identity) => ({ type: caller.type, [caller.type]: { id: caller.id, meta: caller.metadata } })

const decodeBody = (call: WebhookCall): RequestBody | null => {
  if (call.body === null || call.body.length === 0) return null
  const type = (call.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? ""
  const text = utf8DecodeStrict(call.body)
  if (text !== null) {
    if (isJson(type)) return { text, as: "json" }
    if (type.startsWith("text/") || type === "") return { text, as: "text" }
    if (type === "application/x-www-form-urlencoded") return { text, as: "form" }
  }
  return { text: Base64.encode(call.body), as: "given" }
}

/** Maximum arrays and objects in a JSON body. A parser needs about 0.2 s for them, and cannot be stopped meanwhile. */
export const bodyContainersMax = 250_000

/** True for a JSON body with more arrays and objects. */
export const hasTooManyContainers = (body: RequestBody): boolean =>
  body.as === "json" && hasMoreContainers(body.text, bodyContainersMax)

const isJson = (type: string): boolean => type === "application/json" || type.endsWith("+json")
