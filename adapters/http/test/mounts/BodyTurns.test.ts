import { once } from "node:events"
import { createServer, type IncomingMessage } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { readLargeBody } from "../../src/bodies/LargeBodies.ts"
import { ConnectionTurns } from "../../src/mounts/ConnectionTurns.ts"

const MiB = 1024 * 1024
const connections = 12
const bodyBytes = 2 * MiB
/** The budget of a turn, and one read of 64 KiB of each connection. */
const bytesPerTurnMax = MiB + connections * 64 * 1024
const head = `POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${bodyBytes}\r\n\r\n`

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe("large bodies that arrive on many connections at once", () => {
  it("are read within the budget of each turn of the event loop, and arrive complete", async () => {
    const requests: Array<IncomingMessage> = []
    const turns = new ConnectionTurns((request) => requests.push(request))
    const server = createServer((request, response) => {
      readLargeBody(request, {
        onPart: (bytes) => turns.countBody(bytes),
        onRead: (read) => turns.readBody(request.socket, read)
      })
      turns.enter(request, response)
      request.socket.pause()
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    const sockets = Array.from({ length: connections }, () => connect(port, "127.0.0.1").on("error", () => undefined))
    try {
      for (const socket of sockets) socket.write(head)
      while (requests.length < connections) await nextTurn()
      for (const socket of sockets) socket.write(Buffer.alloc(bodyBytes))
      const bytes = new Map<IncomingMessage, number>()
      let bytesInTurn = 0
      let ended = 0
      for (const request of requests) {
        request.on("data", (chunk: Buffer) => {
          bytesInTurn += chunk.length
          bytes.set(request, (bytes.get(request) ?? 0) + chunk.length)
        })
        request.on("end", () => ended++)
      }
      while (ended < connections) {
        bytesInTurn = 0
        await nextTurn()
        assert.isAtMost(bytesInTurn, bytesPerTurnMax)
      }
      assert.deepStrictEqual([...bytes.values()], Array<number>(connections).fill(bodyBytes))
    } finally {
      for (const socket of sockets) socket.destroy()
      server.close()
    }
  })
})
