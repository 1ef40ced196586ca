import { once } from "node:events"
import { createServer, type IncomingMessage, type Server } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { Worker } from "node:worker_threads"
import { assert, describe, it } from "@effect/vitest"
import { joinChunks } from "../../src/bodies/JoinedChunks.ts"
import { ConnectionTurns } from "../../src/mounts/ConnectionTurns.ts"

const connections = 12
const readsPerTurn = 1
const chunks = 200
const head = "POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n"

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Sends a request to each port, and wakes the main thread once the kernel has all of them. */
const sender = `
const { workerData: { ports, text, isSent } } = require("node:worker_threads")
const { connect } = require("node:net")
let left = ports.length
for (const port of ports) {
  const socket = connect(port, "127.0.0.1", () => socket.write(text, () => {
    if (--left > 0) return
    Atomics.store(isSent, 0, 1)
    Atomics.notify(isSent, 0)
  }))
  socket.on("error", () => undefined)
}
`

const createChunkServer = (turns: ConnectionTurns): Server =>
  createServer((request, response) => {
    joinChunks(request, {
      onManyChunks: () => turns.rest(request.socket),
      onRead: (read) => turns.readInTurn(request.socket, read),
      onComplete: () => undefined
    })
    turns.enter(request, response)
  })

/** Adds requests to `requests` as they begin, and answers them. */
const answerInTurns = (requests: Array<IncomingMessage>): ConnectionTurns =>
  new ConnectionTurns((request, response) => {
    requests.push(request)
    request.resume()
    request.on("end", () => response.end())
  })

/** Returns the most requests that began in one turn of the event loop, until `count` have begun. */
const countMostPerTurn = async (requests: ReadonlyArray<IncomingMessage>, count: number): Promise<number> => {
  let most = 0
  while (requests.length < count) {
    const before = requests.length
    await nextTurn()
    most = Math.max(most, requests.length - before)
  }
  return most
}

describe("connections that open at once", () => {
  it("wait for later turns once the first read of one was expensive", async () => {
    const requests: Array<IncomingMessage> = []
    const turns = answerInTurns(requests)
    // Node accepts one connection per server and turn.
    const servers = Array.from({ length: connections }, () =>
      createChunkServer(turns).on("connection", (socket) => turns.accept(socket))
    )
    try {
      const ports = await Promise.all(
        servers.map(async (server) => {
          await once(server.listen(0, "127.0.0.1"), "listening")
          return (server.address() as AddressInfo).port
        })
      )
      const sendAll = (text: string): Worker => {
        const isSent = new Int32Array(new SharedArrayBuffer(4))
        const worker = new Worker(sender, { eval: true, workerData: { ports, text, isSent } })
        Atomics.wait(isSent, 0, 0)
        return worker
      }
      // After some short turns, many connections may open per turn.
      const workers = [sendAll(`GET / HTTP/1.1\r\nhost: a\r\n\r\n`), sendAll(`GET / HTTP/1.1\r\nhost: a\r\n\r\n`)]
      while (requests.length < 2 * connections) await nextTurn()
      workers.push(sendAll(`${head}${"1\r\nx\r\n".repeat(5_000)}0\r\n\r\n`))
      assert.isAtMost(await countMostPerTurn(requests, 3 * connections), 2)
      await Promise.all(workers.map((worker) => worker.terminate()))
    } finally {
      for (const server of servers) {
        server.closeAllConnections()
        server.close()
      }
    }
  })
})

describe("connections that opened before and send at once", () => {
  it("wait for later turns once the first read of one was expensive", async () => {
    const requests: Array<IncomingMessage> = []
    const turns = answerInTurns(requests)
    let accepted = 0
    const server = createChunkServer(turns)
      .on("connection", (socket) => {
        accepted++
        turns.accept(socket)
      })
      .listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    const sockets = Array.from({ length: connections }, () => connect(port, "127.0.0.1").on("error", () => undefined))
    try {
      while (accepted < connections) await nextTurn()
      for (let turn = 0; turn < 20; turn++) await nextTurn()
      // The kernel has the data of all connections before the first is read.
      for (const socket of sockets) socket.write(`${head}${"1\r\nx\r\n".repeat(5_000)}0\r\n\r\n`)
      assert.isAtMost(await countMostPerTurn(requests, connections), 2)
    } finally {
      for (const socket of sockets) socket.destroy()
      server.close()
    }
  })
})

describe("bodies in small chunks that arrive on many connections at once", () => {
  it("are read from one connection per turn of the event loop, and arrive complete", async () => {
    const requests: Array<IncomingMessage> = []
    const turns = new ConnectionTurns((request) => requests.push(request))
    const server = createChunkServer(turns).listen(0, "127.0.0.1")
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
