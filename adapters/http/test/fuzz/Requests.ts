/** Requests derived from the OpenAPI document, most of them with an error. */
import fc from "fast-check"
import { type Operation, operations } from "../openapi/Operations.ts"
import { boundary, formBody, jsonBody } from "./Bodies.ts"

export interface FuzzRequest {
  readonly method: string
  /** A template. `targetOf` replaces `{name}` by a valid value. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | null
  /** The owner of the credential. */
  readonly credential: "right" | "wrong" | "none"
}

/** Invalid and overlong parts of a URL. */
const oddSegment = fc.constantFrom(
  "%00",
  "%E0%A4%A",
  "%",
  "%zz",
  "%2e%2e",
  "..",
  ".",
  "%2F",
  "%F0%9F%A7%B5",
  "__proto__",
  "constructor",
  "x".repeat(3000),
  "01890000-0000-7000-8000-000000000000",
  "01890000-0000-7000-8000-00000000000G",
  "0",
  "-1",
  "null",
  "a;b=c",
  "a%20b",
  "*",
  "%ff%fe",
  "a//b",
  ""
)

const oddQueryValue = fc.constantFrom(
  "",
  "0",
  "1",
  "100",
  "101",
  "-1",
  "1e1",
  "99999999999999999999",
  "P1D",
  "P999999999Y",
  "-P1D",
  "%00",
  "%",
  "%E0%A4",
  "true",
  "succeeded",
  "event",
  "a&a",
  "[1]",
  "x".repeat(2000)
)

const oddQueryName = fc.constantFrom("limit[]", "__proto__", "", "%00", "constructor", "a[b]", "Limit")

const oddHeaderValue = fc.constantFrom(
  "",
  "1",
  "-1",
  "bytes=0-",
  "bytes=5-1",
  "bytes=-0",
  "bytes=99999999999999999999-",
  '"x"',
  'W/"x", *',
  "x".repeat(500),
  "\u00e9\u00ff"
)

const contentTypes = fc.constantFrom(
  "text/plain",
  "application/xml",
  "application/json; charset=utf-16",
  "application/json;;;",
  "APPLICATION/JSON",
  "multipart/form-data",
  `multipart/form-data; boundary=${boundary}`,
  'multipart/form-data; boundary="',
  "application/x-www-form-urlencoded",
  "*/*",
  "",
  "application/octet-stream"
)

/** Generates the first value mostly, and sometimes one of the others. */
const mostly = <A>(right: fc.Arbitrary<A>, wrong: fc.Arbitrary<A>, weight = 6): fc.Arbitrary<A> =>
  fc.oneof({ weight, arbitrary: right }, { weight: 1, arbitrary: wrong })

const pathOf = (template: string): fc.Arbitrary<string> => {
  const segments = template.split("/").map((segment) => {
    if (segment === "") return fc.constant("")
    return segment.startsWith("{")
      ? mostly(fc.constant(segment), oddSegment, 3)
      : mostly(fc.constant(segment), oddSegment, 40)
  })
  return fc.tuple(...segments).map((parts) => parts.join("/"))
}

const queryOf = ({ parameters = [] }: Operation): fc.Arbitrary<string> => {
  const names = parameters.filter((parameter) => parameter.in === "query")
  const right = names.map((parameter) => `${parameter.name}=${encodeURIComponent(String(parameter.example))}`)
  const name =
    names.length === 0 ? oddQueryName : fc.oneof(fc.constantFrom(...names.map((one) => one.name)), oddQueryName)
  const odd = fc.tuple(name, oddQueryValue).map(([key, value]) => `${key}=${value}`)
  return fc
    .array(right.length === 0 ? odd : fc.oneof(fc.constantFrom(...right), odd), { maxLength: 3 })
    .map((pairs) => (pairs.length === 0 ? "" : `?${pairs.join("&")}`))
}

const headersOf = ({ parameters = [] }: Operation): fc.Arbitrary<Record<string, string>> => {
  const declared = parameters.filter((parameter) => parameter.in === "header").map((parameter) => parameter.name)
  const names = [
    ...declared,
    "range",
    "if-none-match",
    "if-match",
    "if-range",
    "idempotency-key",
    "last-event-id",
    "x-forwarded-for",
    "accept"
  ]
  return mostly(fc.constant({}), fc.dictionary(fc.constantFrom(...names), oddHeaderValue, { maxKeys: 2 }), 3)
}

interface SentBody {
  readonly type: string
  readonly body: Uint8Array | null
}

const bodyOf = ({ requestBody }: Operation, method: string): fc.Arbitrary<SentBody> => {
  const [[type, media] = ["", {}]] = Object.entries(requestBody?.content ?? {})
  const none: fc.Arbitrary<SentBody> = fc.constant({ type: "", body: null })
  const anything: fc.Arbitrary<SentBody> = fc.record({ type: contentTypes, body: fc.uint8Array({ maxLength: 100 }) })
  if (type === "") return mostly(none, method === "GET" ? none : anything)
  if (type.includes("form-data")) {
    return fc.record({ type: mostly(fc.constant(`${type}; boundary=${boundary}`), contentTypes), body: formBody })
  }
  const isJson = type.includes("json") || type === "*/*"
  const sent = isJson ? jsonBody(media.example ?? {}) : fc.uint8Array({ maxLength: 2000 })
  const right = type === "*/*" ? "application/json" : type
  return fc.record({
    type: mostly(fc.constant(right), contentTypes),
    body: mostly<Uint8Array | null>(sent, fc.constant(null), 30)
  })
}

const requestOf = ([route, operation]: readonly [string, Operation]): fc.Arbitrary<FuzzRequest> => {
  const [own = "", template = ""] = route.split(" ")
  const otherMethod = fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "PROPFIND")
  return fc
    .record({
      method: mostly(fc.constant(own), otherMethod, 40),
      path: pathOf(template),
      query: queryOf(operation),
      headers: headersOf(operation),
      sent: bodyOf(operation, own),
      credential: fc.constantFrom<FuzzRequest["credential"]>(...Array<"right">(18).fill("right"), "wrong", "none")
    })
    .map(({ method, path, query, headers, sent, credential }) => ({
      method,
      path: `${path}${query}`,
      headers: { ...headers, ...(sent.type === "" ? {} : { "content-type": sent.type }) },
      body: sent.body,
      credential
    }))
}

export const fuzzRequest: fc.Arbitrary<FuzzRequest> = fc.oneof(...operations.map(requestOf))
