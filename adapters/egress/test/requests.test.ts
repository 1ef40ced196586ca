/** The bytes on the wire, and the parts of a response that guests receive. */
import { readFileSync } from "node:fs"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer as createSecureServer } from "node:https"
import { createServer as createSocketServer } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import type { EgressRequest } from "@weft/core/adapter"
import { type EgressOptions, egress } from "@weft/egress"
import { Effect, Schema, Stream } from "effect"
import { nameServer } from "./NameServer.ts"
import { ask, envOf, refusal, serve } from "./Servers.ts"

const Echo = Schema.fromJsonString(
  Schema.Struct({
    method: Schema.String,
    url: Schema.String,
    headers: Schema.Array(Schema.String),
    body: Schema.String
  })
)

const echo = (request: IncomingMessage, response: ServerResponse): void => {
  let body = ""
  request.setEncoding("utf8").on("data", (chunk) => {
    body += chunk
  })
  request.on("end", () =>
    response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.rawHeaders, body }))
  )
}

const echoed = (url: string, request: Partial<EgressRequest> = {}) =>
  Effect.flatMap(ask(url, request), ({ body }) => Schema.decodeEffect(Echo)(body))

const headerOf = (headers: ReadonlyArray<string>, name: string): ReadonlyArray<string> =>
  headers.filter((_, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === name)

const loopback = egress({ policy: { allow: ["127.0.0.1"], userAgent: "weft-test" } })
const bytes = (text: string) => new TextEncoder().encode(text)

describe("a request", () => {
  it.live("sends method, path, headers and body, and the headers of every client", () =>
    Effect.gen(function* () {
      const server = yield* serve(echo)
      const sent = yield* echoed(`${server.url}/a%20b?c=d#fragment`, {
        method: "PATCH",
        headers: [
          ["X-One", "1"],
          ["x-latin", "é"],
          ["content-type", "text/plain"]
        ],
        body: bytes("héllo")
      })
      assert.deepStrictEqual([sent.method, sent.url, sent.body], ["PATCH", "/a%20b?c=d", "héllo"])
      assert.deepStrictEqual(headerOf(sent.headers, "host"), [`127.0.0.1:${server.port}`])
      assert.deepStrictEqual(headerOf(sent.headers, "x-one"), ["1"])
      assert.deepStrictEqual(headerOf(sent.headers, "x-latin"), ["é"])
      assert.deepStrictEqual(headerOf(sent.headers, "content-length"), ["6"])
      assert.deepStrictEqual(headerOf(sent.headers, "user-agent"), ["weft-test"])
      assert.deepStrictEqual(headerOf(sent.headers, "accept-encoding"), ["gzip, br"])
      const own = yield* echoed(server.url, {
        headers: [
          ["User-Agent", "mine"],
          ["accept", "text/html"]
        ]
      })
      assert.deepStrictEqual(headerOf(own.headers, "user-agent"), ["mine"])
      assert.deepStrictEqual(headerOf(own.headers, "accept"), ["text/html"])
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("omits headers that frame it, belong to the connection, or name another host", () =>
    Effect.gen(function* () {
      const server = yield* serve(echo)
      const own: ReadonlyArray<string> = [
        "Host",
        "Connection",
        "Keep-Alive",
        "Proxy-Authorization",
        "proxy-anything",
        "TE",
        "Trailer",
        "Transfer-Encoding",
        "Upgrade",
        "Expect",
        "Content-Length",
        "HTTP2-Settings"
      ]
      const sent = yield* echoed(server.url, {
        method: "POST",
        headers: own.map((name) => [name, name === "Content-Length" ? "1000" : "evil"]),
        body: bytes("four")
      })
      assert.strictEqual(sent.body, "four")
      assert.isFalse(sent.headers.includes("evil"))
      assert.deepStrictEqual(headerOf(sent.headers, "content-length"), ["4"])
      assert.deepStrictEqual(headerOf(sent.headers, "host"), [`127.0.0.1:${server.port}`])
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("cannot smuggle a second request", () =>
    Effect.gen(function* () {
      const server = yield* serve(echo)
      const second = "\r\n\r\nGET /admin HTTP/1.1\r\nHost: x\r\n\r\n"
      const attempts: ReadonlyArray<Partial<EgressRequest>> = [
        { headers: [["x", `1${second}`]] },
        { headers: [["x", "1\nhost: evil"]] },
        { headers: [["x", "1\0"]] },
        { headers: [["x", "\u0100"]] },
        { headers: [["x: 1\r\nhost", "evil"]] },
        { headers: [["", "1"]] },
        { headers: [[" host", "evil"]] },
        { method: `GET / HTTP/1.1${second}` },
        { method: "" },
        { method: "CONNECT" },
        { method: "trace" },
        { method: "GET", body: bytes(second) }
      ]
      for (const attempt of attempts) {
        const [tag] = yield* refusal(server.url, attempt)
        assert.strictEqual(tag, "EgressRefused", JSON.stringify(attempt))
      }
      assert.strictEqual(server.accepted(), 0)
      const sent = yield* echoed(`${server.url}/a\r\nb?c d\te`)
      assert.strictEqual(sent.url, "/ab?c%20de")
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("streams its body, with a correct length or without one", () =>
    Effect.gen(function* () {
      const server = yield* serve(echo)
      const chunks = Stream.make(bytes("one "), bytes("two"))
      const open = yield* echoed(server.url, { method: "POST", body: { length: null, chunks } })
      assert.strictEqual(open.body, "one two")
      assert.deepStrictEqual(headerOf(open.headers, "transfer-encoding"), ["chunked"])
      const known = yield* echoed(server.url, { method: "POST", body: { length: 7, chunks } })
      assert.deepStrictEqual([known.body, headerOf(known.headers, "content-length")], ["one two", ["7"]])
      for (const length of [6, 8]) {
        assert.deepStrictEqual(yield* refusal(server.url, { method: "POST", body: { length, chunks } }), [
          "EgressFailed",
          "the length of the request's body differs from its content-length"
        ])
      }
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )
})

describe("a response", () => {
  it.live("returns status, headers with each cookie, and its own URL", () =>
    Effect.gen(function* () {
      const server = yield* serve((_, response) => {
        response.writeHead(418, "Teapot", {
          "Set-Cookie": ["a=1", "b=2"],
          "X-Upper": "Value",
          "Content-Type": "text/plain"
        })
        response.end("short")
      })
      const { status, statusText, url, redirected, headers, body } = yield* ask(`${server.url}/x#y`)
      assert.deepStrictEqual(
        [status, statusText, url, redirected, body],
        [418, "Teapot", `${server.url}/x`, false, "short"]
      )
      const seen = headers.filter(([name]) => name !== "date")
      assert.deepStrictEqual(seen, [
        ["set-cookie", "a=1"],
        ["set-cookie", "b=2"],
        ["x-upper", "Value"],
        ["content-type", "text/plain"]
      ])
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("has no body if its status or method forbids one", () =>
    Effect.gen(function* () {
      const server = yield* serve((request, response) => {
        response.writeHead(Number(request.url?.slice(1)), { "content-encoding": "gzip" })
        response.end()
      })
      for (const status of [204, 205, 304]) {
        assert.strictEqual((yield* ask(`${server.url}/${status}`)).body, "")
      }
      const head = yield* ask(`${server.url}/200`, { method: "HEAD" })
      assert.deepStrictEqual([head.status, head.body], [200, ""])
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("that is invalid, incomplete or missing fails with a message that reveals nothing of the machine", () =>
    Effect.gen(function* () {
      const answers: ReadonlyArray<readonly [answer: string, reason: RegExp]> = [
        ["SSH-2.0-OpenSSH\r\n", /^the response is not valid HTTP$/],
        ["HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", /^the connection was closed before the end$/],
        ["HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy", /valid HTTP|closed/],
        [`HTTP/1.1 200 OK\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, /^the headers of the response are too large$/],
        ["", /^the connection was closed before the end$/]
      ]
      for (const [answer, reason] of answers) {
        const port = yield* rawServer(answer)
        const [tag, text] = yield* refusal(`http://127.0.0.1:${port}/`)
        assert.strictEqual(tag, "EgressFailed", answer)
        assert.match(text ?? "", reason, answer)
      }
      const closed = yield* Effect.scoped(
        Effect.map(
          serve(() => undefined),
          ({ port }) => port
        )
      )
      assert.deepStrictEqual(yield* refusal(`http://127.0.0.1:${closed}/`), [
        "EgressFailed",
        "the connection was refused"
      ])
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )
})

/** Sends these bytes on every connection and closes it. */
const rawServer = (answer: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const server = createSocketServer((socket) => {
          socket.on("error", () => undefined)
          socket.once("data", () => socket.end(answer, "latin1"))
        })
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
        return server
      }),
      (server) => Effect.promise(() => new Promise((resolve) => server.close(resolve)))
    ),
    (server) => {
      const address = server.address()
      return typeof address === "object" && address !== null ? address.port : 0
    }
  )

describe("connections", () => {
  it.live("are reused by the same environment, and by no other", () =>
    Effect.gen(function* () {
      const server = yield* serve(echo)
      for (let round = 0; round < 30; round++) yield* ask(server.url, {}, envOf(1))
      // There is a second one if a request starts before the previous connection is free.
      const before = server.accepted()
      assert.isAtMost(before, 2)
      yield* ask(server.url, {}, envOf(2))
      assert.strictEqual(server.accepted(), before + 1)
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("are kept for a limited number of routes per environment, and otherwise end with their requests", () =>
    Effect.gen(function* () {
      const servers = yield* Effect.replicateEffect(serve(echo), 18)
      for (const { url } of servers) yield* ask(url, {}, envOf(1))
      const [first, last] = [servers[0] ?? assert.fail(), servers[17] ?? assert.fail()]
      yield* Effect.promise(last.quiet)
      yield* ask(last.url, {}, envOf(1))
      yield* ask(first.url, {}, envOf(1))
      assert.deepStrictEqual([first.accepted(), last.accepted()], [1, 2])
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("are closed with their layer", () =>
    Effect.gen(function* () {
      const server = yield* serve(echo)
      yield* Effect.provide(ask(server.url), loopback)
      yield* Effect.promise(server.quiet)
      assert.strictEqual(server.accepted(), 1)
    }).pipe(Effect.scoped)
  )

  it.live("use TLS for https, with a certificate of the host", () =>
    Effect.gen(function* () {
      const read = (name: string) => readFileSync(new URL(`fixtures/${name}.pem`, import.meta.url), "utf8")
      const certificate = read("secure.test")
      const server = yield* serve(echo, {
        make: (handle) => createSecureServer({ key: read("secure.test.key"), cert: certificate }, handle)
      })
      const url = `https://127.0.0.1:${server.port}/`
      const insecure = ["EgressFailed", "the TLS handshake failed: certificate or protocol"]
      assert.deepStrictEqual(yield* Effect.provide(refusal(url), loopback), insecure)
      const trusting = egress({ policy: { allow: ["127.0.0.1"] }, certificates: [certificate] })
      assert.deepStrictEqual(yield* Effect.provide(refusal(url), trusting), insecure)
      const dns = yield* nameServer((_, type) => (type === "A" ? ["127.0.0.1"] : []))
      const named = { policy: { allow: ["127.0.0.1"] }, nameServers: [dns.at] }
      const ask = (name: string, options: EgressOptions) =>
        Effect.provide(echoed(`https://${name}:${server.port}/x`), egress(options))
      assert.strictEqual((yield* ask("secure.test", { ...named, certificates: [certificate] })).url, "/x")
      for (const [name, options] of [
        ["other.test", { ...named, certificates: [certificate] }],
        ["secure.test", named]
      ] as const) {
        assert.deepStrictEqual((yield* Effect.flip(ask(name, options))).message, insecure[1])
      }
    }).pipe(Effect.scoped)
  )
})
