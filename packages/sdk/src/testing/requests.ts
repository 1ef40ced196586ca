/** Builds the requests of webhooks in the same way as the runtime. */
import type { Meta } from "../Meta.ts"
import type { Caller } from "../Svc.ts"
import type { RequestAuth, WebhookRequest } from "../WebhookRequest.ts"

/** A request to a webhook. */
export interface TestRequest {
  /** By default the declared method of the function. */
  readonly method?: string
  /** The path without the query; by default the declared path of the function. */
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  /** Text and bytes are sent unchanged. Other values are sent as JSON, by default with that content type. */
  readonly body?: unknown
  /** Address of the socket; headers may override it. */
  readonly ip?: string
}

export const buildRequest = (
  sent: TestRequest,
  meta: Meta | undefined,
  caller: Caller | null
): WebhookRequest<unknown, Readonly<Record<string, string>>> => {
  const isText = typeof sent.body === "string" || sent.body instanceof Uint8Array
  const headers: Record<string, string> =
    sent.body === undefined || isText ? {} : { "content-type": "application/json" }
  for (const [name, value] of Object.entries(sent.headers ?? {})) headers[name.toLowerCase()] = value
  const { service = "service", path = "/", method = "POST" } = meta?.webhook ?? {}
  return {
    method: sent.method ?? method,
    url: sent.url ?? `/webhook/default/test/${service}${path.startsWith("/") ? path : `/${path}`}`,
    headers,
    query: sent.query ?? {},
    ip: headers["x-forwarded-for"]?.split(",")[0]?.trim() || headers["x-real-ip"]?.trim() || sent.ip || "127.0.0.1",
    ...(caller === null ? {} : { auth: toAuth(caller) }),
    ...decoded(sent.body, headers["content-type"] ?? "")
  }
}

const toAuth = ({ type, id, metadata }: Caller): RequestAuth => {
  if (type === "host" || id === null)
    throw new TypeError("A caller of type host cannot call webhooks: use another type")
  return { type, [type]: { id, meta: metadata } }
}

const decoded = (sent: unknown, contentType: string): Pick<WebhookRequest, "body" | "body-raw"> => {
  if (sent === undefined || sent === "") return { body: null, "body-raw": "" }
  const raw = sent instanceof Uint8Array ? textOrNull(sent) : typeof sent === "string" ? sent : JSON.stringify(sent)
  const type = contentType.split(";")[0]?.trim().toLowerCase() ?? ""
  if (raw === null || !isReadable(type)) {
    const bytes = sent instanceof Uint8Array ? sent : new TextEncoder().encode(raw ?? "")
    return { body: null, "body-raw": btoa(String.fromCharCode(...bytes)) }
  }
  if (isJson(type)) return { body: jsonOr(raw), "body-raw": raw }
  if (type === formType) return { body: Object.fromEntries(new URLSearchParams(raw)), "body-raw": raw }
  return { body: raw, "body-raw": raw }
}

const formType = "application/x-www-form-urlencoded"
const isJson = (type: string): boolean => type === "application/json" || type.endsWith("+json")
const isReadable = (type: string): boolean =>
  type === "" || isJson(type) || type === formType || type.startsWith("text/")

const textOrNull = (bytes: Uint8Array): string | null => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}

const jsonOr = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
