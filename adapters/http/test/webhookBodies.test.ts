/** What webhooks' bodies take of the server while they are sent, whoever sends them. */
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { openRaw, type Raw } from "./server/RawExchange.ts"
import { checkEnvelope, type Reply, replyOf, TestServer } from "./server/TestServer.ts"

const bodyBytes = 100_000

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start({ bodyBytes, heldBodyBytes: 2 * bodyBytes })
  await server.deploy("shop", "shop")
})
afterAll(() => server.close())

const part = "x".repeat(90_000)

/** Heads of requests for what is not there, with bodies that do not come to their end. */
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

/** The answer to a large body while strangers send one after the other, and none of theirs comes to its end. */
const crowded = async (unended: string, way: string, test: (refused: Reply) => Promise<void>): Promise<void> => {
  const held: Array<Raw> = []
  try {
    while (held.length < 50) {
      const raw = openRaw(server.listening)
      held.push(raw)
      raw.socket.write(`POST /webhook/x/y/z/p HTTP/1.1\r\nHost: a\r\n${unended}`)
      await sleep(20)
      const reply = await send(way, bodyBytes)
      if (reply.status === 503) return await test(reply)
    }
    assert.fail("there is room for all of them")
  } finally {
    for (const { socket } of held) socket.destroy()
  }
}

/** When those who went away are known to be gone. */
const settled = async (way: string): Promise<Reply> => {
  for (let round = 0; round < 200; round++) {
    const reply = await send(way, bodyBytes)
    if (reply.status === 200) return reply
    await sleep(20)
  }
  return assert.fail("there is no room for it again")
}

for (const [holding, unended] of Object.entries(unfinished)) {
  describe(`bodies ${holding} that strangers send slowly`, () => {
    for (const way of Object.keys(ways)) {
      it(`leave no room for a large one ${way}, which is told to come again, but for a small one, until they are gone`, async () => {
        await crowded(unended, way, async (refused) => {
          assert.deepStrictEqual(
            [refused.json.error.code, refused.headers.get("retry-after")],
            ["internal_server_error", "1"]
          )
          assert.strictEqual((await send(way, 10_000)).status, 200)
        })
        assert.strictEqual((await settled(way)).json["body-raw"].length, bodyBytes)
      })
    }
  })
}

describe("a body whose call is answered", () => {
  it("is let go, whatever the answer", async () => {
    for (const way of Object.keys(ways)) {
      await settled(way)
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
