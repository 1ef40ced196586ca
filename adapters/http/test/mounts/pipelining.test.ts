/** Strangers that pipeline requests, or send bodies that nobody reads. */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import * as Http from "@weft/http"
import { afterAll, beforeAll } from "vitest"
import { eventually } from "../server/FileClient.ts"
import { type Address, openRaw, type Raw } from "../server/RawExchange.ts"
import { TestServer } from "../server/TestServer.ts"

let server: TestServer
let host: Server
let mounted: Http.NodeMount

const servers: Record<string, () => Address> = {
  "Http.listen": () => server.listening,
  "Http.node": () => {
    const address = host.address() as AddressInfo
    return { host: address.address, port: address.port }
  }
}

beforeAll(async () => {
  server = await TestServer.start()
  await server.deploy("shop", "shop")
  mounted = Http.node(server.weft)
  host = createServer(mounted)
  await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve))
})
afterAll(async () => {
  host.closeAllConnections()
  host.close()
  await mounted.close({ graceMs: 0 })
  await server.close()
})

const get = (path: string, more = ""): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`

const countOf = (raw: Raw): number => raw.received().split("HTTP/1.1 ").length - 1

const untilClosed = async ({ socket }: Raw): Promise<void> => {
  await eventually(() => socket.destroyed)
}

// Other systems have one address of the loopback interface.
describe.runIf(process.platform === "linux")("connections of one address", () => {
  it("do not delay the first request of another address until they have been read", async () => {
    const { listening } = server
    const floods = Array.from({ length: 300 }, () => openRaw(listening, "127.0.0.2"))
    await Promise.all(floods.map(({ socket }) => new Promise((resolve) => socket.once("connect", resolve))))
    for (const { socket } of floods) socket.write(get("/v1/openapi.json").repeat(100))
    const other = openRaw(listening)
    other.socket.write(get("/v1/status", "Connection: close\r\n"))
    assert.match(await other.ended, /^HTTP\/1\.1 200 /)
    assert.isBelow(floods.filter((flood) => flood.received() !== "").length, floods.length / 2)
    for (const { socket } of floods) socket.destroy()
  })

  it("are all read, whether or not another address is active", async () => {
    const { listening } = server
    const floods = Array.from({ length: 40 }, () => openRaw(listening, "127.0.0.2"))
    for (const { socket } of floods) socket.write(get("/v1/status").repeat(20) + get("/none", "Connection: close\r\n"))
    const other = openRaw(listening)
    other.socket.write(get("/v1/status", "Connection: close\r\n"))
    for (const { ended } of [other, ...floods]) assert.match(await ended, /^HTTP\/1\.1 200 /)
    for (const flood of floods) assert.strictEqual(countOf(flood), 21)
  })
})

for (const [name, address] of Object.entries(servers)) {
  describe(`pipelined requests to ${name}`, () => {
    it("are answered on each of 300 connections that open at once", async () => {
      const raws = Array.from({ length: 300 }, () => openRaw(address()))
      for (const { socket } of raws) socket.write(get("/v1/status") + get("/none", "Connection: close\r\n"))
      for (const { ended } of raws) {
        const statuses = [...(await ended).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
        assert.deepStrictEqual(statuses, ["200", "404"])
      }
    })

    it("are all answered, in their order", async () => {
      const raw = openRaw(address())
      const paths = Array.from({ length: 300 }, (_, n) =>
        n % 3 === 0 ? "/v1/status" : n % 3 === 1 ? "/none" : "/v1/env"
      )
      raw.socket.write(paths.map((path) => get(path)).join("") + get("/v1/status", "Connection: close\r\n"))
      const received = await raw.ended
      const statuses = [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
      assert.deepStrictEqual(
        statuses,
        [...paths, "/v1/status"].map((path) => ({ "/v1/status": "200", "/none": "404", "/v1/env": "401" })[path])
      )
    })

    it("with bodies are all answered, in their order", async () => {
      const raw = openRaw(address())
      const sent = Array.from({ length: 50 }, (_, n) => {
        const body = JSON.stringify({ n, padding: "x".repeat(n * 100) })
        const head = `POST /webhook/acme/prod/shop/echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`
        return n % 2 === 0
          ? `${head}Content-Length: ${body.length}\r\n\r\n${body}`
          : `${head}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
      })
      raw.socket.write(sent.join("") + get("/v1/status", "Connection: close\r\n"))
      const received = await raw.ended
      const numbers = [...received.matchAll(/"body":\{"n":(\d+)/g)].map(([, n]) => Number(n))
      assert.deepStrictEqual(
        numbers,
        sent.map((_, n) => n)
      )
    })

    it("begin after the earlier requests of their connection have ended", async () => {
      const raw = openRaw(address())
      raw.socket.write(get("/webhook/acme/prod/shop/slow") + get("/v1/status", "Connection: close\r\n"))
      const received = await raw.ended
      const [slow = "", status = ""] = received.split("HTTP/1.1 ").slice(1)
      assert.include(slow, '"slow"')
      const time = (response: string): number => Date.parse(/"start_time"|date: (.*)\r/i.exec(response)?.[1] ?? "")
      assert.isAtLeast(time(status), time(slow))
    })

    it("do not delay another connection until they have ended", async () => {
      const floods = Array.from({ length: 4 }, () => openRaw(address()))
      for (const { socket } of floods) socket.write(get("/v1/openapi.json").repeat(2000))
      const other = openRaw(address())
      other.socket.write(get("/v1/status", "Connection: close\r\n"))
      assert.match(await other.ended, /^HTTP\/1\.1 200 /)
      for (const flood of floods) {
        assert.isBelow(countOf(flood), 1000)
        flood.socket.destroy()
      }
    })

    it("after one that closes the connection are not begun", async () => {
      const raw = openRaw(address())
      raw.socket.write(`${get("/v1/status", "Connection: close\r\n")}${get("/v1/status").repeat(20)}`)
      await untilClosed(raw)
      assert.isAtMost(countOf(raw), 1)
    })

    it("are discarded when their connection ends", async () => {
      for (let round = 0; round < 30; round++) {
        const raw = openRaw(address())
        raw.socket.write(get("/v1/openapi.json").repeat(2000))
        await sleep(5)
        raw.socket.destroy()
      }
      const other = openRaw(address())
      other.socket.write(`${get("/v1/status").repeat(100)}${get("/v1/status", "Connection: close\r\n")}`)
      assert.strictEqual((await other.ended).split("HTTP/1.1 200 ").length - 1, 101)
    })
  })

  describe(`a body in chunks that ${name} does not read`, () => {
    const oneByte = "1\r\na\r\n"

    it("closes the connection after the answer, and little of it is received", async () => {
      for (const path of ["/nothing", "/v1/events", "/v1/projects/shop/builds"]) {
        const raw = openRaw(address())
        let sent = 0
        const block = Buffer.from(oneByte.repeat(10_000))
        const send = (): void => {
          while (!raw.socket.destroyed && raw.socket.writable && sent < 100_000_000) {
            sent += block.length
            if (!raw.socket.write(block)) return
          }
        }
        raw.socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`)
        raw.socket.on("drain", send)
        send()
        await untilClosed(raw)
        assert.match(raw.received(), /^HTTP\/1\.1 40[14] /, path)
        assert.match(raw.received(), /^connection: close\r$/im, path)
        // The buffers of the operating system.
        assert.isBelow(raw.socket.bytesWritten, 50_000_000, path)
      }
    })
  })

  describe(`a body in small chunks that ${name} reads`, () => {
    it("keeps the connection", async () => {
      const raw = openRaw(address())
      const body = "1\r\na\r\n".repeat(9)
      const head = "POST /webhook/acme/prod/shop/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      raw.socket.write(`${head}${body}0\r\n\r\n`)
      await eventually(() => raw.received().includes('"body":"aaaaaaaaa"'))
      raw.socket.write(get("/v1/status", "Connection: close\r\n"))
      assert.match(await raw.ended, /HTTP\/1\.1 200 [\s\S]*HTTP\/1\.1 200 /)
    })

    it("arrives complete", async () => {
      const raw = openRaw(address())
      const body = JSON.stringify({ text: "0123456789".repeat(10_000) })
      const chunks = [...body].map((byte) => `1\r\n${byte}\r\n`).join("")
      raw.socket.write(
        `POST /webhook/acme/prod/shop/echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`
      )
      const received = await raw.ended
      assert.match(received, /^HTTP\/1\.1 200 /)
      assert.include(received, `"body":${body}`)
    })
  })
}
