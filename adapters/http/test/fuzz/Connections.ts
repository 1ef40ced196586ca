/** Bytes as an attacker could send them: requests that are valid, invalid, truncated or nested. */
import { connect } from "node:net"
import { type Draws, type Target, utf8 } from "@weft/tooling/fuzz"
import { assert } from "vitest"
import { type Answer, readAnswers } from "./Answers.ts"

export interface Server {
  readonly port: number
  readonly token: string
  /** A file to download. */
  readonly file: string
}

const methods = [
  "GET",
  "GET",
  "POST",
  "POST",
  "PUT",
  "DELETE",
  "PATCH",
  "OPTIONS",
  "TRACE",
  "CONNECT",
  "get",
  "M-SEARCH",
  "PRI"
]
const paths = [
  ...[
    "/v1/status",
    "/v1/env",
    "/v1/events",
    "/v1/projects",
    "/v1/runs?time_range=P1D&limit=2",
    "/v1/runs?limit=1&offset=1e9"
  ],
  ...[
    "/v1/env/subscribe",
    "/v1/streams/01890000-0000-7000-8000-000000000000/subscribe",
    "/v1/streams/subscribe-with-event"
  ],
  ...[
    "/v1/files/$FILE/download",
    "/v1/files/upload/a",
    "/v1/files/upload/%2e%2e/a",
    "/v1/projects/shop/builds",
    "/v1/sessions"
  ],
  ...[
    "/webhook/acme/prod/shop/echo",
    "/webhook/acme/prod/shop/read?a=%00&__proto__=1",
    "/webhook/acme/prod/shop/secret",
    "/webhook///"
  ],
  ...[
    "/mcp/acme/prod/shop",
    "/docs",
    "/healthz",
    "/metrics",
    "*",
    "/",
    "//",
    "http://weft/v1/env",
    "/v1/../healthz",
    "/v1/env#x",
    "/\u00ff",
    "a:80"
  ]
]
/** Methods and their paths. */
const routes = [
  ...["GET /v1/env", "GET /v1/runs?time_range=P1D&limit=2", "GET /v1/files/$FILE/download", "GET /v1/env/subscribe"],
  ...[
    "POST /v1/projects",
    "PUT /v1/files/upload/a",
    "POST /v1/projects/shop/builds",
    "POST /v1/streams/subscribe-with-event"
  ],
  ...[
    "POST /webhook/acme/prod/shop/echo",
    "GET /webhook/acme/prod/shop/read?a=%00",
    "POST /webhook/acme/prod/shop/secret"
  ],
  ...["GET /v1/streams/01890000-0000-7000-8000-000000000000/subscribe", "POST /v1/sessions", "POST /v1/events"],
  "GET /healthz"
]
const json = [
  '{"event_type":"a","event_data":{}}',
  '{"name":"x"}',
  "{",
  "[]",
  `${"[".repeat(5000)}`,
  '{"permissions":{"*:*":["*"]}}',
  '{"event_type":"svc:schedule:new","event_data":{"fn":"main/plain","args":[],"schedule":"* * * * *"}}',
  '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
]
const ranges = [
  "bytes=0-1",
  "bytes=-1",
  "bytes=9-1",
  "bytes=0-,2-3",
  "bytes=99999999999999999999-",
  "bytes=-0",
  "chunks=1-2",
  "bytes=--1"
]
const etags = ["*", '"x"', 'W/"x"', '"', "", "Thu, 01 Jan 1970 00:00:00 GMT", "Thu, 32 Jan 99999", ',,,"'.repeat(50)]
const positions = ["1", "store-0-t0", "x-999999999999999-t1", "-", "-1-t1", "\u00e9", "a".repeat(3000)]

const header = (draws: Draws): string =>
  draws.one<() => string>([
    () => "Authorization: Bearer $TOKEN",
    () =>
      `Authorization: ${draws.one(["Bearer ", "bearer svc_x", "Basic eDp5", "Bearer s_00000000-0000-0000-0000-000000000000_x", "Bearer \u00ff"])}`,
    () => `Range: ${draws.one(ranges)}`,
    () =>
      `${draws.one(["If-Match", "If-None-Match", "If-Range", "If-Modified-Since", "If-Unmodified-Since"])}: ${draws.one(etags)}`,
    () => `Last-Event-ID: ${draws.one(positions)}`,
    () =>
      `Content-Type: ${draws.one(["application/json", "text/plain", "multipart/form-data; boundary=b", "multipart/form-data", "application/x-www-form-urlencoded", ";;"])}`,
    () => `Accept: ${draws.one(["text/event-stream", "application/json, text/event-stream", "*/*"])}`,
    () => `Connection: ${draws.one(["keep-alive", "close", "upgrade", "Content-Length"])}`,
    () => `Host: ${draws.one(["b", "", "a,b", "[::1", "weft:99999"])}`,
    () =>
      draws.one([
        "X: y\r\n folded: z",
        " X: y",
        "X : y",
        "X",
        ": y",
        "X:\u0000",
        "X: a\rb",
        "X: a\nY: b",
        "Upgrade: h2c",
        "Expect: 100-continue",
        "Expect: x",
        `X: ${"y".repeat(17_000)}`,
        `Traceparent: 00-${"f".repeat(32)}-${"f".repeat(16)}-ff`,
        "X-Forwarded-Host: a/b",
        "Idempotency-Key: \u00e9",
        "Trailer: Content-Length"
      ])
  ])()

const chunked = (draws: Draws, body: string): string => {
  const size = draws.one([
    body.length.toString(16),
    `0x${body.length.toString(16)}`,
    `${body.length.toString(16)};ext=1`,
    `+${body.length}`,
    "ffffffffffffffff",
    "-1",
    `${body.length.toString(16)} `,
    ""
  ])
  return `${draws.chance(0.7) ? body.length.toString(16) : size}${draws.one(["\r\n", "\r\n", "\n"])}${body}\r\n0${draws.one(["\r\n\r\n", "\r\n\r\n", "\r\nContent-Length: 3\r\n\r\n", "\n\n", ""])}`
}

/** Encodings of the body length, also repeated. */
const framing = (draws: Draws, body: string): { readonly lines: ReadonlyArray<string>; readonly body: string } => {
  const length = `Content-Length: ${body.length}`
  return draws.one<() => { readonly lines: ReadonlyArray<string>; readonly body: string }>([
    () => ({ lines: [length], body }),
    () => ({ lines: [length], body }),
    () => ({ lines: ["Transfer-Encoding: chunked"], body: chunked(draws, body) }),
    () => ({ lines: [length, "Transfer-Encoding: chunked"], body: chunked(draws, body) }),
    () => ({ lines: [length, `Content-Length: ${draws.whole(0, 9)}`], body }),
    () => ({
      lines: [
        draws.one([
          "Transfer-Encoding: xchunked",
          "Transfer-Encoding: chunked, identity",
          "Transfer-Encoding:\tchunked",
          "Transfer-Encoding: identity"
        ])
      ],
      body: chunked(draws, body)
    }),
    () => ({
      lines: [`Content-Length: ${draws.one(["+3", "-1", "3, 3", "0x3", "1e1", " 3", "99999999999999999999", ""])}`],
      body
    }),
    () => ({ lines: [`Content-Length: ${body.length + draws.whole(1, 50)}`], body })
  ])()
}

const request = (draws: Draws): string => {
  const version = draws.chance(0.9)
    ? "HTTP/1.1"
    : draws.one(["HTTP/1.0", "HTTP/2.0", "HTTP/0.9", "http/1.1", "", "HTTP/1.1 "])
  const sent = draws.chance(0.4) ? framing(draws, draws.one(json)) : { lines: [], body: "" }
  const credential = draws.chance(0.7) ? ["Authorization: Bearer $TOKEN"] : []
  const route = draws.chance(0.75) ? draws.one(routes) : `${draws.one(methods)} ${draws.one(paths)}`
  const lines = [
    ...(draws.chance(0.95) ? ["Host: weft"] : []),
    ...credential,
    ...sent.lines,
    ...draws.some(() => header(draws), draws.one([0, 0, 1, 3]))
  ]
  const ending = draws.chance(0.93) ? "\r\n" : "\n"
  return [`${route} ${version}`, ...lines, "", sent.body].join(ending)
}

const quietMs = 30

const exchange = ({ port }: Server, bytes: Uint8Array): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Array<Buffer> = []
    const socket = connect(port, "127.0.0.1")
    // The missing bytes never arrive. Responses arrive soon.
    let quiet = setTimeout(() => socket.end(), quietMs)
    socket.write(bytes)
    socket.on("data", (chunk) => {
      chunks.push(chunk)
      clearTimeout(quiet)
      quiet = setTimeout(() => socket.end(), quietMs)
    })
    // After its last response, the server may close a connection that still sends.
    socket.on("error", (error: NodeJS.ErrnoException) => (error.code === "ECONNREFUSED" ? reject(error) : undefined))
    socket.on("close", () => {
      clearTimeout(quiet)
      resolve(Buffer.concat(chunks))
    })
    socket.setTimeout(8000, () => {
      socket.destroy()
      reject(new Error("the server keeps silent"))
    })
  })

const isCode = /^[a-z_]+$/

const checkAnswer = ({ status, headers, body }: Answer): void => {
  assert.isTrue(status === 100 || (status >= 200 && status < 500), `status ${status}`)
  if (status < 400) return
  assert.match(headers.get("x-request-id") ?? "", /^[0-9a-f-]{36}$/, "an error without an id")
  const { error } = JSON.parse(body.toString("utf8"))
  assert.match(error.code, isCode)
  assert.isNotEmpty(error.message)
  assert.strictEqual(error.request_id, headers.get("x-request-id"))
}

/** A head with both a length and chunked encoding, or with two lengths. */
const isTwofold = (text: string): boolean => {
  const [head = ""] = text.split("\r\n\r\n")
  const lengths = [...head.matchAll(/^content-length:[ \t]*(\d+)[ \t]*\r?$/gim)].map(([, value]) => value)
  return lengths.length > 0 && (/^transfer-encoding:/im.test(head) || new Set(lengths).size > 1)
}

export const connections = (server: () => Server): Target => {
  let sent = 0
  return {
    name: "connections",
    generate: (draws) => Buffer.from(draws.some(() => request(draws), draws.one([1, 1, 1, 3]), 1).join(""), "latin1"),
    words: [
      "\r\n",
      "\n",
      "\r\n\r\n",
      "Content-Length: 0",
      "Transfer-Encoding: chunked",
      "0\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
      " HTTP/1.1",
      "\u0000",
      "%",
      "?",
      "$TOKEN",
      utf8("\ufeff")
    ],
    limitMs: 10_000,
    isGuided: false,
    run: async (input) => {
      const { token, file } = server()
      const text = Buffer.from(input).toString("latin1")
      const bytes = Buffer.from(text.replaceAll("$TOKEN", token).replaceAll("$FILE", file), "latin1")
      const answers = readAnswers(await exchange(server(), bytes), text)
      for (const answer of answers) checkAnswer(answer)
      if (isTwofold(text))
        assert.isTrue(
          answers.length <= 1 && answers.every(({ status }) => status >= 400),
          "two readings of one request"
        )
      if (sent++ % 20 === 0) {
        const [healthy] = readAnswers(await exchange(server(), utf8("GET /healthz HTTP/1.1\r\nHost: weft\r\n\r\n")), "")
        assert.strictEqual(healthy?.status, 200)
      }
      return answers.some(({ status }) => status >= 200 && status < 400) ? "taken" : "refused"
    }
  }
}
