/** What a webhook's caller gets, and what is stored of it, made as the runtime makes them of what a function returns. */
import { namedError } from "./failures.ts"

export interface Answer {
  /** What the caller gets. */
  readonly response: Response
  /** The run's result. */
  readonly result: unknown
}

/** A response, or any other value as JSON. */
export const answerOf = async (value: unknown): Promise<Answer> => {
  if (value instanceof Response) return ofWeb(value)
  if (typeof value !== "object" || value === null) return ofValue(value)
  const { status, headers, body }: { readonly status?: unknown; readonly headers?: unknown; readonly body?: unknown } =
    value
  return typeof status === "number" && Number.isInteger(status) ? ofParts(status, headers, body) : ofValue(value)
}

/** The answer where the function has failed: nothing of the reason. */
export const failedAnswer = (): Response =>
  Response.json({ error: { code: "internal_server_error", message: "Internal server error" } }, { status: 500 })

export const jsonText = (value: unknown): string => {
  const text: string | undefined = value === undefined ? "null" : JSON.stringify(value)
  if (text === undefined) throw new TypeError(`A ${typeof value} was returned, which JSON cannot say`)
  return text
}

const ofValue = (value: unknown): Answer => {
  const text = jsonText(value)
  return { response: responseOf(200, [["content-type", "application/json"]], text), result: JSON.parse(text) }
}

const ofWeb = async (response: Response): Promise<Answer> => {
  const bytes = new Uint8Array(await response.clone().arrayBuffer())
  const cookies = response.headers.getSetCookie()
  const headers = {
    ...Object.fromEntries(response.headers),
    ...(cookies.length === 0 ? {} : { "set-cookie": cookies })
  }
  const body = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
  return { response, result: resultOf(response.status, headers, body || undefined) }
}

const ofParts = (status: number, given: unknown, body: unknown): Answer => {
  if (status < 200 || status > 599) throw invalid(`the status ${status}, which is outside 200 to 599`)
  const headers = headersOf(given)
  const contentType = headers["content-type"]
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((line): readonly [string, string] => [name, line])
  )
  if (body === undefined) return { response: responseOf(status, lines, ""), result: resultOf(status, headers) }
  if (
    typeof contentType === "string" &&
    !/^[\t ]*(?:application|text)\/(?:[^;\t ]*\+)?json[\t ]*(?:;|$)/i.test(contentType)
  ) {
    if (typeof body === "string") {
      return { response: responseOf(status, lines, body), result: resultOf(status, headers, body || undefined) }
    }
    if (body instanceof Uint8Array) {
      const base64 = btoa(Array.from(body, (byte) => String.fromCharCode(byte)).join(""))
      return {
        response: responseOf(status, lines, body.slice()),
        result: resultOf(status, headers, base64 || undefined)
      }
    }
  }
  const text = jsonText(body)
  const typed = contentType === undefined ? [...lines, ["content-type", "application/json"] as const] : lines
  return { response: responseOf(status, typed, text), result: resultOf(status, headers, JSON.parse(text)) }
}

/** Headers and body as far as there are any. */
const resultOf = (status: number, headers: object, body?: unknown): object => ({
  status,
  ...(Object.keys(headers).length === 0 ? {} : { headers }),
  ...(body === undefined ? {} : { body })
})

/** By lowercase name. The values of an array are one header, but for cookies. */
const headersOf = (headers: unknown): Record<string, string | ReadonlyArray<string>> => {
  if (headers === undefined || headers === null) return {}
  if (typeof headers !== "object") throw invalid("headers that are no object")
  const read: Record<string, string | ReadonlyArray<string>> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || value === null) continue
    const lines = [value].flat().map(String)
    if (
      !/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name) ||
      !lines.every((line) => /^[\t\x20-\x7e\x80-\xff]*$/.test(line))
    ) {
      throw invalid(`a header that cannot be sent: ${JSON.stringify(name)}`)
    }
    const lower = name.toLowerCase()
    read[lower] = lower === "set-cookie" && Array.isArray(value) ? lines : lines.join(", ")
  }
  return read
}

const invalid = (what: string): Error => namedError("InvalidResponse", `The function returned ${what}`)

const withoutBody: ReadonlySet<number> = new Set([204, 205, 304])

const responseOf = (
  status: number,
  headers: ReadonlyArray<readonly [string, string]>,
  body: string | Uint8Array<ArrayBuffer>
): Response =>
  new Response(withoutBody.has(status) || body.length === 0 ? null : body, {
    status,
    headers: headers.map(([name, value]): [string, string] => [name, value])
  })
