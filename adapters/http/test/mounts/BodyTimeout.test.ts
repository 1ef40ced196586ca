import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { connect, type Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { makeBodyTimeout } from "../../src/mounts/BodyTimeout.ts"

const aborted: Array<string> = []
const bodyTimeout = makeBodyTimeout({
  idleMs: 400,
  requestMs: 800,
  onTimeout: ({ url = "", socket }) => {
    aborted.push(url)
    socket.destroy()
  }
})

const answer = (request: IncomingMessage, response: ServerResponse): void => {
  if (request.url?.endsWith("/answered")) response.end("no")
  else if (!request.url?.endsWith("/unread")) request.resume()
}

const server = createServer({ requestTimeout: 0 }, (request, response) => {
  bodyTimeout.watch(request, response)
  answer(request, response)
})
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)))
afterAll(async () => {
  bodyTimeout.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const sockets: Array<Socket> = []
afterAll(() => sockets.forEach((socket) => void socket.destroy()))

/** Sends the head of a request with a body, and then a byte every `everyMs` if given. */
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

describe("BodyTimeout", () => {
  it("aborts bodies that pause, and slow bodies that are no file transfers", async () => {
    send("PUT", "/v1/files/upload/idle")
    send("POST", "/v1/events")
    send("POST", "/v1/trickling", 50)
    send("PUT", "/v1/files/upload/trickling", 50)
    send("PUT", "/v1/files/uploads/id/1", 50)
    // The server does not read the received bytes, so the client is not late.
    send("PUT", "/v1/files/upload/unread")
    // A rejected body that is not read has the normal time limit of a request.
    send("PUT", "/v1/files/upload/answered", 50)
    await new Promise((resolve) => setTimeout(resolve, 1600))
    assert.sameMembers(aborted, ["/v1/files/upload/idle", "/v1/events", "/v1/trickling", "/v1/files/upload/answered"])
  })
})
