/**
 * The limit of the suite sse: a bare `node:http` server that sends what is posted to all who subscribed. Nobody is asked
 * who they are, nothing is stored, and nothing can be caught up with. Prints its port.
 */
import { randomBytes } from "node:crypto"
import { createServer, type ServerResponse } from "node:http"

const subscribers = new Set<ServerResponse>()
let told = 0

/** A UUIDv7, as far as its time goes. */
const freshId = (): string => {
  const time = Date.now().toString(16).padStart(12, "0")
  const random = randomBytes(10).toString("hex")
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-a${random.slice(3, 6)}-${random.slice(6, 18)}`
}

const tell = (data: unknown): void => {
  told++
  const message = Buffer.from(`id: plain-${told}\nevent: event:created\ndata: ${JSON.stringify(data)}\n\n`)
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
    const data = { event_id: freshId(), stream_id: freshId(), event_type: "told" }
    response.writeHead(201, { "content-type": "application/json" }).end(JSON.stringify({ data }))
    tell(data)
  })
})
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  console.log(typeof address === "object" && address !== null ? address.port : "")
})
