/**
 * The limit of the suite sse: a bare `node:http` server that sends each posted event to all subscribers, without
 * authentication, storage or catch-up. Prints its port.
 */
import { randomBytes } from "node:crypto"
import { createServer, type ServerResponse } from "node:http"

const subscribers = new Set<ServerResponse>()
let sequence = 0

/** Returns an id with the time of a UUIDv7. */
const freshId = (): string => {
  const time = Date.now().toString(16).padStart(12, "0")
  const random = randomBytes(10).toString("hex")
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-a${random.slice(3, 6)}-${random.slice(6, 18)}`
}

const broadcast = (data: unknown): void => {
  sequence++
  const message = Buffer.from(`id: plain-${sequence}\nevent: event:created\ndata: ${JSON.stringify(data)}\n\n`)
  for (const response of subscribers) response.write(message)
}

const server = createServer((request, response) => {
  if (request.method === "GET") {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" })
    response.write(": connected\n\n")
    subscribers.add(response)
    response.on("close", () => subscribers.delete(response))
    return
  }
  request.resume().on("end", () => {
    const data = { event_id: freshId(), stream_id: freshId(), event_type: "sent" }
    response.writeHead(201, { "content-type": "application/json" }).end(JSON.stringify({ data }))
    broadcast(data)
  })
})
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  console.log(typeof address === "object" && address !== null ? address.port : "")
})
