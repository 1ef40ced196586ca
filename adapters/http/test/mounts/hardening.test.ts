/** Attacks on a server below HTTP, and its responses. No connection stays open, and other clients are not delayed. */
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import type { ListenOptions } from "@weft/http"
import { afterAll, beforeAll } from "vitest"
import { exchange, openRaw } from "../server/RawExchange.ts"
import { adminToken, TestServer } from "../server/TestServer.ts"

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.close())

const ask = (text: string): Promise<string> => exchange(server.listening, text)

const on = async (options: ListenOptions, body: (one: TestServer) => Promise<void>): Promise<void> => {
  const one = await TestServer.start(options)
  try {
    await body(one)
  } finally {
    await one.close()
  }
}

/** Asserts exactly one response, whatever else the text contains. */
const refusedOnce = (received: string): void => {
  assert.match(received, /^HTTP\/1\.1 400 /, received.slice(0, 200))
  assert.strictEqual(received.split("HTTP/1.1 ").length, 2, received)
  assert.match(received, /"code":"bad_request"/)
}

const status = "GET /v1/status HTTP/1.1\r\nHost: a\r\n"

describe("a request that servers and proxies may parse differently", () => {
  const hidden = "GET /v1/status HTTP/1.1\r\nHost: smuggled\r\n\r\n"
  const post = "POST /webhook/a/b/c/d HTTP/1.1\r\nHost: a\r\n"
  for (const [name, text] of Object.entries({
    "length and chunks": `${post}Content-Length: ${hidden.length + 5}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    "chunks and length": `${post}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${hidden}`,
    "two lengths": `${post}Content-Length: 0\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    "two lengths in one": `${post}Content-Length: 0, ${hidden.length}\r\n\r\n${hidden}`,
    "a length with a sign": `${post}Content-Length: +0\r\n\r\n${hidden}`,
    "a length in hex": `${post}Content-Length: 0x10\r\n\r\n${hidden}`,
    "an unknown encoding": `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${hidden}`,
    "an encoding twice": `${post}Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n${hidden}`,
    "an encoding after a tab and a form feed": `${post}Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n${hidden}`,
    "a name with a space": `${post}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${hidden}`,
    "a folded line": `${post}X-A: b\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    "a bare line feed": `${post}X-A: b\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    "a bare carriage return": `${post}X-A: b\rX-B: c\r\nContent-Length: 0\r\n\r\n${hidden}`,
    "a NUL in a header": `${post}X-A: \0\r\nContent-Length: 0\r\n\r\n${hidden}`,
    "an invalid chunk size": `${post}Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n${hidden}`,
    "a chunk longer than it says": `${post}Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n${hidden}`,
    "chunks in HTTP/1.0": `POST /webhook/a/b/c/d HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    "chunks in HTTP/1.0 for another route": `POST /nothing HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    "a chunk extension of a megabyte": `${post}Transfer-Encoding: chunked\r\n\r\n0;${"x".repeat(1_000_000)}\r\n\r\n${hidden}`,
    "a line feed after a chunk size": `${post}Transfer-Encoding: chunked\r\n\r\n0\n\n${hidden}`,
    "trailers of a megabyte": `${post}Transfer-Encoding: chunked\r\n\r\n0\r\nX-A: ${"x".repeat(1_000_000)}\r\n\r\n${hidden}`,
    "two hosts": `${status}Host: b\r\n\r\n${hidden}`,
    "two equal hosts": `${status}host: a\r\n\r\n${hidden}`
  })) {
    it(`is rejected, and its connection closed: ${name}`, async () => {
      const received = await ask(text)
      // A truncated body may close the connection without a response.
      if (received !== "") refusedOnce(received)
      assert.notMatch(received, /"version"/)
    })
  }

  it("has its body in chunks from HTTP/1.1 on", async () => {
    const received = await ask(
      "POST /webhook/a/b/c/d HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    )
    refusedOnce(received)
    assert.include(received, "HTTP/1.0 does not support the header Transfer-Encoding")
    assert.match(received, /^connection: close\r$/im)
  })

  it("is not changed by its trailers", async () => {
    const received = await ask(
      `${post}Transfer-Encoding: chunked\r\n\r\n0\r\nX-A: b\r\nHost: b\r\n\r\n${status}Connection: close\r\n\r\n`
    )
    assert.match(received, /^HTTP\/1\.1 404 [\s\S]*HTTP\/1\.1 200 /)
  })

  it("is not confused with two pipelined requests, which are handled in order", async () => {
    const received = await ask(`${status}\r\n${status}Connection: close\r\n\r\n`)
    assert.strictEqual(received.split("HTTP/1.1 200 ").length, 3)
  })
})

describe("unusual methods, versions and targets", () => {
  it("do not reflect the request", async () => {
    for (const method of ["TRACE", "TRACK", "DEBUG", "PROPFIND"]) {
      const received = await ask(
        `${method} /v1/status HTTP/1.1\r\nHost: a\r\nX-Canary: 4711\r\nConnection: close\r\n\r\n`
      )
      assert.match(received, /^HTTP\/1\.1 (400|404) /)
      assert.notInclude(received, "4711")
    }
  })

  it("have the host of an absolute target, not of the header", async () => {
    const received = await ask("GET http://b/v1/status HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    assert.match(received, /^HTTP\/1\.1 200 /)
    for (const target of ["ftp://a/v1/status", "http:/v1/status", "a:80", "?/v1/status"]) {
      const other = await ask(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
      assert.match(other, /^HTTP\/1\.1 (400|404) /, target)
    }
  })

  it("do not upgrade the connection", async () => {
    const received = await ask(
      `${status}Connection: Upgrade, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`
    )
    assert.notMatch(received, /^HTTP\/1\.1 101 /)
  })

  it("are accepted for HTTP/1.0, and the connection ends", async () => {
    assert.match(await ask("GET /v1/status HTTP/1.0\r\n\r\n"), /^HTTP\/1\.1 200 /)
  })

  it("are rejected for other versions", async () => {
    for (const version of ["HTTP/0.9", "HTTP/1.2", "HTTP/2.0", "HTTP/9.9", "http/1.1"]) {
      refusedOnce(await ask(`GET /v1/status ${version}\r\nHost: a\r\n\r\n`))
    }
    refusedOnce(await ask("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
  })

  it("do not bypass a path check by a different encoding", async () => {
    for (const target of [
      "/v1/../admin/orgs",
      "/v1/%2e%2e/admin/orgs",
      "//admin/orgs",
      "/admin//orgs",
      "/ADMIN/orgs",
      "/admin/orgs/",
      "/admin%2forgs",
      "/%61dmin/orgs%00",
      "\\admin\\orgs",
      "*"
    ]) {
      const received = await ask(
        `GET ${target} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${adminToken}\r\nConnection: close\r\n\r\n`
      )
      assert.match(received, /^HTTP\/1\.1 (400|404) /, target)
      assert.notInclude(received, '"slug"', target)
    }
  })
})

describe("headers", () => {
  it("are limited in bytes and number, and none is silently dropped", async () => {
    refusedOnce(await ask(`${status}a: ${"b".repeat(17_000)}\r\n\r\n`))
    for (const count of [200, 224, 1000, 4000]) refusedOnce(await ask(`${status}${"a:\r\n".repeat(count)}\r\n`))
    const many = await ask(
      `GET /v1/projects HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${"a:\r\n".repeat(197)}Authorization: Bearer ${server.token}\r\n\r\n`
    )
    assert.match(many, /^HTTP\/1\.1 200 /)
  })

  it("of responses do not reveal the software, and keep secrets out of caches", async () => {
    const answers = [
      await server.call("GET", "/v1/status", { token: null }),
      await server.call("GET", "/nothing", { token: null }),
      await server.call("POST", "/v1/events", { token: null }),
      await server.call("POST", "/v1/sessions", { json: { permissions: {} }, headers: { origin: "https://a.test" } }),
      await server.call("OPTIONS", "/v1/events", {
        token: null,
        headers: { origin: "https://a.test", "access-control-request-method": "POST" }
      })
    ]
    const untold = ["server", "x-powered-by", "via", "set-cookie"]
    for (const { headers } of answers) {
      for (const name of untold) assert.isFalse(headers.has(name))
      for (const name of headers.keys()) assert.isFalse(name.startsWith("access-control-"), name)
    }
    const env = server.weft.env(server.env.env_id)
    const { file_id } = await env.files.upload("linked.txt", new Uint8Array(1))
    const secret = [
      await server.call("POST", `/v1/files/${file_id}/links`, { json: {} }),
      await server.call("POST", "/v1/sessions", { json: { permissions: {} } }),
      await server.call("POST", "/v1/service-keys", { json: { permissions: {} } }),
      await server.call("POST", `/admin/envs/${server.env.env_id}/api-keys`, { token: adminToken, json: {} })
    ]
    for (const { status: code, headers } of secret) {
      assert.strictEqual(code, 201)
      assert.strictEqual(headers.get("cache-control"), "no-store")
    }
  })

  it("of the documentation page allow only its own content", async () => {
    const response = await fetch(`${server.listening.url}/docs`)
    await response.arrayBuffer()
    assert.match(response.headers.get("content-security-policy") ?? "", /default-src 'none'.*frame-ancestors 'none'/)
    assert.strictEqual(response.headers.get("x-content-type-options"), "nosniff")
    assert.strictEqual(response.headers.get("cross-origin-opener-policy"), "same-origin")
  })
})

describe("a slow client", () => {
  it("is rejected if its headers are late", () =>
    on({ headersMs: 400 }, async ({ listening }) => {
      const { socket, ended } = openRaw(listening)
      socket.write("GET /v1/status HTTP/1.1\r\n")
      const trickle = setInterval(() => socket.write("X-A: b\r\n"), 50)
      const received = await ended.finally(() => clearInterval(trickle))
      refusedOnce(received)
      assert.include(received, "did not arrive in time")
    }))

  it("is rejected if its body is late", () =>
    on({ bodyIdleMs: 300 }, async ({ listening }) => {
      const { socket, ended } = openRaw(listening)
      socket.write("POST /webhook/a/b/c/d HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc")
      assert.include(await ended, "did not arrive in time")
      assert.isTrue(socket.destroyed)
    }))

  it("is disconnected if it sends no first request", () =>
    on({ sendIdleMs: 200 }, async ({ listening }) => {
      const { ended } = openRaw(listening)
      assert.notMatch(await ended, /HTTP\/1\.1 200/)
    }))

  it("is disconnected if it does not read, and its buffers are freed", () =>
    on({ sendIdleMs: 300 }, async (one) => {
      const big = "x".repeat(8 * 1024 * 1024)
      const { file_id } = await one.weft.env(one.env.env_id).files.upload("big.txt", new TextEncoder().encode(big))
      const { socket, ended } = openRaw(one.listening)
      socket.pause()
      socket.write(
        `GET /v1/files/${file_id}/download HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${one.token}\r\n\r\n`
      )
      await sleep(1500)
      socket.resume()
      const received = await ended
      assert.match(received, /^HTTP\/1\.1 200 /)
      assert.isBelow(received.length, big.length)
    }))

  it("is not disconnected while its function runs", () =>
    on({ sendIdleMs: 100 }, async (one) => {
      await one.deploy("shop", "shop")
      const reply = await one.call("GET", "/webhook/acme/prod/shop/slow", { token: null })
      assert.deepStrictEqual([reply.status, reply.text], [200, '"slow"'])
    }))
})

describe("connections", () => {
  it("above the limit are closed, and new ones are accepted after others end", () =>
    on({ connections: 3 }, async ({ listening }) => {
      const held = [openRaw(listening), openRaw(listening), openRaw(listening)]
      await sleep(100)
      assert.strictEqual(await exchange(listening, `${status}\r\n`), "")
      for (const { socket } of held) socket.destroy()
      await sleep(100)
      assert.match(await exchange(listening, `${status}Connection: close\r\n\r\n`), /^HTTP\/1\.1 200 /)
    }))

  it("of one address are limited if the host sets a limit", () =>
    on({ connectionsPerAddress: 2 }, async ({ listening }) => {
      const held = [openRaw(listening), openRaw(listening)]
      await sleep(100)
      assert.strictEqual(await exchange(listening, `${status}\r\n`), "")
      held[0]?.socket.destroy()
      await sleep(100)
      assert.match(await exchange(listening, `${status}Connection: close\r\n\r\n`), /^HTTP\/1\.1 200 /)
      held[1]?.socket.destroy()
    }))
})
