/** The limit of the webhook suite: the same work in a bare `node:http` server. Prints its port. */
import { createServer } from "node:http"
import { answer } from "./answer.ts"

const server = createServer((request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const body = chunks.length === 0 ? null : JSON.parse(Buffer.concat(chunks).toString())
    const text = JSON.stringify(answer({ body }))
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
    response.end(text)
  })
})
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  console.log(typeof address === "object" && address !== null ? address.port : "")
})
