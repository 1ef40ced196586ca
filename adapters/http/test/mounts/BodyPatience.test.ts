import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { connect, type Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { makeBodyPatience } from "../../src/mounts/BodyPatience.ts"

const cuts: Array<string> = []
const patience = makeBodyPatience({
  idleMs: 400,
  wholeMs: 800,
  cut: ({ url = "", socket }) => {
    cuts.push(url)
    socket.destroy()
  }
})

const answer = (request: IncomingMessage, response: ServerResponse): void => {
  if (request.url?.endsWith("/answered")) response.end("no")
  else if (!request.url?.endsWith("/unread")) request.resume()
}

const server = createServer({ requestTimeout: 0 }, (request, response) => {
  patience.watch(request, response)
  answer(request, response)
})
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)))
afterAll(async () => {
  patience.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const sockets: Array<Socket> = []
afterAll(() => sockets.forEach((socket) => void socket.destroy()))

/** Sends the head of a request with a body, then a byte now and then if `everyMs` is given. */
const send = (method: string, path: string, everyMs?: number): void => {
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const socket = connect(port, "127.0.0.1", () => {
    socket.write(`${method} ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nx`)
    if (everyMs === undefined) return
    const timer = setInterval(() => socket.write("x"), everyMs)
    socket.on("close", () => clearInterval(timer))
  })
  socket.on("error", () => undefined)
  sockets.push(socket)
}

describe("patience with bodies", () => {
  it("ends with those that pause, and with those that trickle unless they are transfers", async () => {
    send("PUT", "/v1/files/upload/idle")
    send("POST", "/v1/events")
    send("POST", "/v1/trickling", 50)
    send("PUT", "/v1/files/upload/trickling", 50)
    send("PUT", "/v1/files/uploads/id/1", 50)
    // Nobody takes what came: it is not the client who pauses.
    send("PUT", "/v1/files/upload/unread")
    // Refused without reading it: what still trickles in is waited for no longer than any other request.
    send("PUT", "/v1/files/upload/answered", 50)
    await new Promise((resolve) => setTimeout(resolve, 1600))
    assert.sameMembers(cuts, ["/v1/files/upload/idle", "/v1/events", "/v1/trickling", "/v1/files/upload/answered"])
  })
})
