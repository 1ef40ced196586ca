import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { exchange as exchangeWith } from "./server/RawExchange.ts"
import { TestServer } from "./server/TestServer.ts"

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.close())

const exchange = (text: string): Promise<string> => exchangeWith(server.listening, text)

const checkRefusal = (received: string): void => {
  const [head = "", body = ""] = received.split("\r\n\r\n")
  assert.match(head, /^HTTP\/1\.1 400 Bad Request\r\n/)
  assert.match(head.toLowerCase(), /\r\nconnection: close/)
  const { error } = JSON.parse(body)
  assert.strictEqual(error.code, "bad_request")
  assert.include(head.toLowerCase(), `x-request-id: ${error.request_id}`)
  assert.include(head.toLowerCase(), `content-length: ${body.length}`)
}

describe("invalid HTTP", () => {
  it("gets a 400 in the envelope", async () => {
    for (const text of [
      "nonsense\r\n\r\n",
      "GET /v1/status\r\n\r\n",
      "GET /v1/status HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
      "POST /v1/events HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
      "POST /v1/events HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc",
      "GET /v1/status HTTP/1.1\r\nHost: a\r\nBad Header: 1\r\n\r\n",
      "\u0016\u0003\u0001\u0002"
    ]) {
      checkRefusal(await exchange(text))
    }
  })

  it("gets another message than headers that are too large", async () => {
    const received = await exchange(`GET /v1/status HTTP/1.1\r\nHost: a\r\nX-Long: ${"x".repeat(20_000)}\r\n\r\n`)
    checkRefusal(received)
    assert.include(received, "The headers are too large")
  })

  it("includes a request without Host, an unknown expectation and CONNECT", async () => {
    checkRefusal(await exchange("GET /v1/status HTTP/1.1\r\n\r\n"))
    checkRefusal(await exchange("GET /v1/status HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\n\r\n"))
    checkRefusal(await exchange("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n"))
  })
})

describe("unusual requests", () => {
  it("with an absolute URL are handled like any other", async () => {
    const received = await exchange("GET http://weft/v1/status HTTP/1.1\r\nHost: weft\r\nConnection: close\r\n\r\n")
    assert.match(received, /^HTTP\/1\.1 200 /)
    const hook = await exchange("POST http://weft/webhook/a/b/c/d HTTP/1.1\r\nHost: weft\r\nConnection: close\r\n\r\n")
    assert.match(hook, /^HTTP\/1\.1 404 /)
  })

  it("that expect 100-continue get it", async () => {
    const received = await exchange(
      "POST /webhook/a/b/c/d HTTP/1.1\r\nHost: weft\r\nExpect: 100-continue\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx"
    )
    assert.match(received, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 404 /)
  })
})
