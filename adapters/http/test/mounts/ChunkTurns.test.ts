import { once } from "node:events"
import { createServer, type IncomingMessage } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { joinChunks } from "../../src/bodies/JoinedChunks.ts"
import { ConnectionTurns } from "../../src/mounts/ConnectionTurns.ts"

const connections = 12
const readsPerTurn = 1
const chunks = 200
const head = "POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n"

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe("bodies in small chunks that arrive on many connections at once", () => {
  it("are read from one connection per turn of the event loop, and arrive complete", async () => {
    const requests: Array<IncomingMessage> = []
    const turns = new ConnectionTurns((request) => requests.push(request))
    const server = createServer((request, response) => {
      joinChunks(request, {
        onManyChunks: () => turns.rest(request.socket),
        onRead: (read) => turns.readInTurn(request.socket, read),
        onComplete: () => undefined
      })
      turns.enter(request, response)
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    const sockets = Array.from({ length: connections }, () => connect(port, "127.0.0.1").on("error", () => undefined))
    try {
      for (const socket of sockets) socket.write(head)
      while (requests.length < connections) await nextTurn()

      // The kernel has the data of all connections before the first is read.
      for (const socket of sockets) socket.write(`${"1\r\nx\r\n".repeat(chunks)}0\r\n\r\n`)
      const bytes = new Map<IncomingMessage, number>()
      let readInTurn = new Set<IncomingMessage>()
      let ended = 0
      for (const request of requests) {
        request.on("data", (chunk: Buffer) => {
          readInTurn.add(request)
          bytes.set(request, (bytes.get(request) ?? 0) + chunk.length)
        })
        request.on("end", () => ended++)
      }
      while (ended < connections) {
        readInTurn = new Set()
        await nextTurn()
        assert.isAtMost(readInTurn.size, readsPerTurn)
      }
      assert.deepStrictEqual([...bytes.values()], Array<number>(connections).fill(chunks))
    } finally {
      for (const socket of sockets) socket.destroy()
      server.close()
    }
  })
})
