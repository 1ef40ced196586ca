/** Memory of webhook bodies during their upload, by any client. */
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { openRaw, type Raw } from "./server/RawExchange.ts"
import { checkEnvelope, type Reply, replyOf, TestServer } from "./server/TestServer.ts"

const bodyBytes = 100_000

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start({ bodyBytes, bufferedBodyBytes: 2 * bodyBytes, archiveBytes: bodyBytes })
  await server.deploy("shop", "shop")
})
afterAll(() => server.close())

const part = "x".repeat(90_000)

/** Heads of requests for unknown endpoints, whose bodies never end. */
const unfinished: Record<string, string> = {
  "with a length": `Content-Length: ${bodyBytes}\r\n\r\n${part}`,
  "in chunks": `Transfer-Encoding: chunked\r\n\r\n${part.length.toString(16)}\r\n${part}\r\n`
}

const ways: Record<string, (body: string) => RequestInit> = {
  "with a length": (body) => ({ body }),
  "in chunks": (body) => ({ body: new Blob([body]).stream(), duplex: "half" as const })
}

const send = async (way: string, bytes: number): Promise<Reply> => {
  const init = { method: "POST", headers: { "content-type": "text/plain" }, ...ways[way]?.("y".repeat(bytes)) }
  const response = await fetch(`${server.listening.url}/webhook/acme/prod/shop/echo`, init)
  return checkEnvelope(await replyOf(response))
}

/** Sends unfinished bodies until a large body gets 503, and runs the test with that response. */
const withExhaustedBudget = async (
  unfinishedRequest: string,
  way: string,
  test: (refused: Reply) => Promise<void>
): Promise<void> => {
  const held: Array<Raw> = []
  try {
    while (held.length < 50) {
      const raw = openRaw(server.listening)
      held.push(raw)
      raw.socket.write(`POST /webhook/x/y/z/p HTTP/1.1\r\nHost: a\r\n${unfinishedRequest}`)
      await sleep(20)
      const reply = await send(way, bodyBytes)
      if (reply.status === 503) return await test(reply)
    }
    assert.fail("the budget has space for all bodies")
  } finally {
    for (const { socket } of held) socket.destroy()
  }
}

/** Waits until the server has released the bodies of disconnected clients. */
const untilReleased = async (way: string): Promise<Reply> => {
  for (let round = 0; round < 200; round++) {
    const reply = await send(way, bodyBytes)
    if (reply.status === 200) return reply
    await sleep(20)
  }
  return assert.fail("the budget was not released")
}

for (const [holding, unfinishedRequest] of Object.entries(unfinished)) {
  describe(`bodies ${holding} that anonymous clients send slowly`, () => {
    for (const way of Object.keys(ways)) {
      it(`use up the budget for a large one ${way}, which gets 503, but not for a small one, until they end`, async () => {
        await withExhaustedBudget(unfinishedRequest, way, async (refused) => {
          assert.deepStrictEqual(
            [refused.json.error.code, refused.headers.get("retry-after")],
            ["internal_server_error", "1"]
          )
          assert.strictEqual((await send(way, 10_000)).status, 200)
        })
        assert.strictEqual((await untilReleased(way)).json["body-raw"].length, bodyBytes)
      })
    }
  })
}

describe("the body of a completed call", () => {
  it("is released, for every response", async () => {
    for (const way of Object.keys(ways)) {
      await untilReleased(way)
      for (let count = 0; count < 10; count++) assert.strictEqual((await send(way, bodyBytes)).status, 200)
      for (let count = 0; count < 10; count++) {
        const init = { method: "POST", ...ways[way]?.("y".repeat(bodyBytes)) }
        const response = await fetch(`${server.listening.url}/webhook/acme/prod/shop/none`, init)
        assert.strictEqual((await replyOf(response)).status, 404)
      }
    }
    assert.strictEqual((await send("in chunks", bodyBytes + 1)).status, 400)
    assert.strictEqual((await send("with a length", bodyBytes)).status, 200)
  })
})
