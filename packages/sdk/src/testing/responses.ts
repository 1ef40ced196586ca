/** Converts a function's result to a webhook's response and its stored result, in the same way as the runtime. */
import { namedError } from "./failures.ts"

export interface WebhookReply {
  /** Response to the caller. */
  readonly response: Response
  /** Result of the run. */
  readonly result: unknown
}

/** Converts a response, or any other value as JSON. */
export const toReply = async (value: unknown): Promise<WebhookReply> => {
  if (value instanceof Response) return fromWebResponse(value)
  if (typeof value !== "object" || value === null) return fromValue(value)
  const { status, headers, body }: { readonly status?: unknown; readonly headers?: unknown; readonly body?: unknown } =
    value
  return typeof status === "number" && Number.isInteger(status) ? fromParts(status, headers, body) : fromValue(value)
}

/** Returns the response for a failed function, without the reason. */
export const failureResponse = (): Response =>
  Response.json({ error: { code: "internal_server_error", message: "Internal server error" } }, { status: 500 })

export const jsonText = (value: unknown): string => {
  const text: string | undefined = value === undefined ? "null" : JSON.stringify(value)
  if (text === undefined) throw new TypeError(`A ${typeof value} was returned, which JSON cannot represent`)
  return text
}

const fromValue = (value: unknown): WebhookReply => {
  const text = jsonText(value)
  return { response: buildResponse(200, [["content-type", "application/json"]], text), result: JSON.parse(text) }
}

const fromWebResponse = async (response: Response): Promise<WebhookReply> => {
  const bytes = new Uint8Array(await response.clone().arrayBuffer())
  const cookies = response.headers.getSetCookie()
  const headers = {
    ...Object.fromEntries(response.headers),
    ...(cookies.length === 0 ? {} : { "set-cookie": cookies })
  }
  const body = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
  return { response, result: toResult(response.status, headers, body || undefined) }
}

const fromParts = (status: number, given: unknown, body: unknown): WebhookReply => {
  if (status < 200 || status > 599) throw invalid(`the status ${status}, which is outside 200 to 599`)
  const headers = normalizeHeaders(given)
  const contentType = headers["content-type"]
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((line): readonly [string, string] => [name, line])
  )
  if (body === undefined) return { response: buildResponse(status, lines, ""), result: toResult(status, headers) }
  if (
    typeof contentType === "string" &&
    !/^[\t ]*(?:application|text)\/(?:[^;\t ]*\+)?json[\t ]*(?:;|$)/i.test(contentType)
  ) {
    if (typeof body === "string") {
      return { response: buildResponse(status, lines, body), result: toResult(status, headers, body || undefined) }
    }
    if (body instanceof Uint8Array) {
      const base64 = btoa(Array.from(body, (byte) => String.fromCharCode(byte)).join(""))
      return {
        response: buildResponse(status, lines, body.slice()),
        result: toResult(status, headers, base64 || undefined)
      }
    }
  }
  const text = jsonText(body)
  const typed = contentType === undefined ? [...lines, ["content-type", "application/json"] as const] : lines
  return { response: buildResponse(status, typed, text), result: toResult(status, headers, JSON.parse(text)) }
}

/** Builds the stored result: status, and headers and body if they are not empty. */
const toResult = (status: number, headers: object, body?: unknown): object => ({
  status,
  ...(Object.keys(headers).length === 0 ? {} : { headers }),
  ...(body === undefined ? {} : { body })
})

/** Returns headers by lowercase name. The values of an array become one header, except cookies. */
const normalizeHeaders = (headers: unknown): Record<string, string | ReadonlyArray<string>> => {
  if (headers === undefined || headers === null) return {}
  if (typeof headers !== "object") throw invalid("headers that are not an object")
  const read: Record<string, string | ReadonlyArray<string>> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || value === null) continue
    const lines = [value].flat().map(String)
    if (
      !/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name) ||
      !lines.every((line) => /^[\t\x20-\x7e\x80-\xff]*$/.test(line))
    ) {
      throw invalid(`an invalid header: ${JSON.stringify(name)}`)
    }
    const lower = name.toLowerCase()
    read[lower] = lower === "set-cookie" && Array.isArray(value) ? lines : lines.join(", ")
  }
  return read
}

const invalid = (what: string): Error => namedError("InvalidResponse", `The function returned ${what}`)

const withoutBody: ReadonlySet<number> = new Set([204, 205, 304])

const buildResponse = (
  status: number,
  headers: ReadonlyArray<readonly [string, string]>,
  body: string | Uint8Array<ArrayBuffer>
): Response =>
  new Response(withoutBody.has(status) || body.length === 0 ? null : body, {
    status,
    headers: headers.map(([name, value]): [string, string] => [name, value])
  })
