/** Fuzz target for webhook requests: a line of JSON with the head, then the bytes of the body. */
import { type Draws, type Target, utf8 } from "@weft/tooling/fuzz"
import { assert } from "vitest"
import { bodyFacts } from "../../src/platform/sandbox/RequestBody.ts"
import { describeRequest } from "../../src/runtime/webhooks/WebhookRequest.ts"

const types = [
  "application/json",
  "application/problem+json; charset=utf-8",
  "text/plain",
  "application/x-www-form-urlencoded",
  "image/png",
  "",
  "APPLICATION/JSON",
  ";",
  "text/"
]
const bodies = [
  "",
  "null",
  '{"a":1}',
  '{"__proto__":{"x":1}}',
  "[".repeat(3000),
  `${"[".repeat(3000)}${"]".repeat(3000)}`,
  "a=1&a=2&__proto__=3",
  "\ufeff{}",
  "1e400",
  '"\\ud800"',
  "{}{}",
  "\u2028",
  '"</script>"',
  "-0",
  "a=%",
  "=&=&",
  '{"a":1,"a":2}'
]
const names = [
  "content-type",
  "authorization",
  "cookie",
  "x-forwarded-for",
  "x-real-ip",
  "x-secret",
  "__proto__",
  "constructor",
  "x"
]
const values = ["", "1.2.3.4, 5.6.7.8", " , ", "Bearer x", "é", '"', "\\", "a\tb"]

interface Head {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
}

const makeHead = (draws: Draws): Head => ({
  url: draws.one(["/webhook/a/b/c/d", "/webhook/a/b/c/%00", '/"', "/\u2028"]),
  headers: Object.fromEntries([
    ["content-type", draws.one(types)],
    ...draws.some((): [string, string] => [draws.one(names), draws.one(values)], 4)
  ]),
  query: Object.fromEntries(
    draws.some((): [string, string] => [draws.one(["a", "__proto__", ""]), draws.one(values)], 2)
  )
})

const isStringRecord = (value: unknown): value is Readonly<Record<string, string>> =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((text) => typeof text === "string")

/** Parses the first line. Returns null if it is no longer a head after mutation. */
const readHead = (line: string): Head | null => {
  try {
    const { url, headers, query } = JSON.parse(line)
    return typeof url === "string" && isStringRecord(headers) && isStringRecord(query) ? { url, headers, query } : null
  } catch {
    return null
  }
}

const strict = (bytes: Uint8Array): string | null => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}

const parsed = (text: string): { readonly value: unknown } | null => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return null
  }
}

/** Parses the body as the specification requires, independently of the product. */
const parseBodyByHand = (type: string, bytes: Uint8Array): { readonly body: unknown; readonly raw: string } => {
  const text = strict(bytes)
  if (bytes.length === 0) return { body: null, raw: "" }
  const base64 = { body: null, raw: Buffer.from(bytes).toString("base64") }
  if (text === null) return base64
  if (type === "application/json" || type.endsWith("+json"))
    return { body: (parsed(text) ?? { value: text }).value, raw: text }
  if (type === "application/x-www-form-urlencoded")
    return { body: Object.fromEntries(new URLSearchParams(text)), raw: text }
  return type === "" || type.startsWith("text/") ? { body: text, raw: text } : base64
}

export const webhookRequests: Target = {
  name: "webhook-requests",
  generate: (draws) =>
    Buffer.concat([
      utf8(`${JSON.stringify(makeHead(draws))}\n`),
      draws.chance(0.7) ? utf8(draws.one(bodies)) : draws.bytes(draws.whole(0, 40))
    ]),
  words: [
    '"content-type":"application/json"',
    "\\ud800",
    "\ufeff",
    "__proto__",
    "\n",
    "\u0000",
    Buffer.from([0xff]),
    '","body":',
    "}"
  ],
  run: (input) => {
    const bytes = Buffer.from(input)
    const end = bytes.indexOf(10)
    const head = readHead(bytes.toString("utf8", 0, Math.max(0, end)))
    if (head === null || end === -1) return "refused"
    const body = bytes.subarray(end + 1)
    const { url, headers, query } = head
    const call = {
      org: "o",
      env: "e",
      service: "s",
      path: "/p",
      method: "POST",
      url,
      query,
      headers,
      body,
      remoteIp: "9.9.9.9",
      token: null
    }
    const { facts, body: sent, logged } = describeRequest(call, null, ["x-secret"])
    const { request, caller, ...rest } = JSON.parse(facts)
    if (sent !== null) Object.assign(request, bodyFacts(sent, request.body))
    assert.deepStrictEqual([caller, rest], [null, {}])
    const type =
      (Object.hasOwn(headers, "content-type") ? (headers["content-type"] ?? "") : "")
        .split(";")[0]
        ?.trim()
        .toLowerCase() ?? ""
    const expected = parseBodyByHand(type, body)
    const expectedRequest = {
      method: "POST",
      url,
      headers,
      query,
      ip: request.ip,
      body: expected.body,
      "body-raw": expected.raw
    }
    // Compares text: deep nesting needs no recursion, and the order of the names counts.
    assert.strictEqual(JSON.stringify(request), JSON.stringify(expectedRequest))
    assert.isNotEmpty(request.ip)
    checkLog(JSON.parse(logged), head)
    return "taken"
  }
}

const secret = new Set(["authorization", "cookie", "proxy-authorization", "set-cookie", "x-secret"])

const checkLog = (log: Record<string, unknown>, { url, headers, query }: Head): void => {
  const masked = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, secret.has(name) ? "***" : value])
  )
  const { method, ip, ...rest } = log
  assert.deepStrictEqual([method, typeof ip], ["POST", "string"])
  assert.deepStrictEqual(rest, { url, headers: masked, query })
}
