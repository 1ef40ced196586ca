/**
 * The request that a webhook function gets (specification, "Webhook endpoint definition"; decisions section 9).
 *
 * Pure: from what arrived to JSON text, once for the function and once, masked, for the run's log.
 */
import { Base64 } from "effect/encoding"
import { callerFacts, type Identity } from "../access/Caller.ts"
import { JsonText } from "../ids/JsonText.ts"
import { utf8DecodeStrict } from "../ids/Utf8.ts"
import type { RequestBody } from "../sandbox/RequestBody.ts"
import type { WebhookCall } from "./WebhookCall.ts"

// Every runtime has it, but TypeScript declares it only together with a platform, and core names none.
declare const URLSearchParams: new (text: string) => Iterable<[string, string]>

export interface DescribedRequest {
  /** JSON text of `svc` without `run`: the request and the caller. */
  readonly facts: string
  /** What the function gets as `body` and `body-raw`, apart: it may be large. Null for none. */
  readonly body: RequestBody | null
  /**
   * The request as the run's log keeps it: no body, credentials masked (specification, "Webhook routes", rule 5).
   */
  readonly logged: JsonText
}

/** `secretHeaders` are lowercase. */
export const describeRequest = (
  call: WebhookCall,
  caller: Identity | null,
  secretHeaders: ReadonlyArray<string>
): DescribedRequest => {
  const { method, url, headers, query } = call
  const open = { method, url, headers, query, ip: clientIp(call) }
  const head = JSON.stringify(caller === null ? open : { ...open, auth: authFacts(caller) })
  const { body, given } = decodeBody(call)
  const request = `${head.slice(0, -1)},"body":${given},"body-raw":""}`
  const masked = maskedHeaders(headers, secretHeaders)
  const auth = caller === null ? {} : { auth: maskValues(authFacts(caller)) }
  // Most requests carry nothing to mask: their text serves twice.
  const logged =
    masked === null && caller === null ? head : JSON.stringify({ ...open, headers: masked ?? headers, ...auth })
  return {
    facts: `{"request":${request},"caller":${callerFacts(caller)}}`,
    body,
    logged: JsonText.make(logged, { disableChecks: true })
  }
}

const alwaysMasked = new Set(["authorization", "cookie", "proxy-authorization", "set-cookie"])
const mask = "***"

/** Null when there is nothing to mask. */
const maskedHeaders = (
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

/** The first address of x-forwarded-for, else x-real-ip, else the socket's. */
const clientIp = (call: WebhookCall): string => {
  const forwarded = call.headers["x-forwarded-for"]?.split(",")[0]?.trim()
  return forwarded || call.headers["x-real-ip"]?.trim() || call.remoteIp
}

const authFacts = (caller: Identity) => ({ type: caller.type, [caller.type]: { id: caller.id, meta: caller.metadata } })

interface Decoded {
  readonly body: RequestBody | null
  /** JSON text of what the body is already. */
  readonly given: string
}

const decodeBody = (call: WebhookCall): Decoded => {
  if (call.body === null || call.body.length === 0) return { body: null, given: "null" }
  const type = (call.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? ""
  const text = utf8DecodeStrict(call.body)
  if (text !== null) {
    if (isJson(type)) return { body: { text, as: "json" }, given: "null" }
    if (type.startsWith("text/") || type === "") return { body: { text, as: "text" }, given: "null" }
    if (type === "application/x-www-form-urlencoded") {
      return { body: { text, as: "given" }, given: JSON.stringify(Object.fromEntries(new URLSearchParams(text))) }
    }
  }
  return { body: { text: Base64.encode(call.body), as: "given" }, given: "null" }
}

const isJson = (type: string): boolean => type === "application/json" || type.endsWith("+json")
