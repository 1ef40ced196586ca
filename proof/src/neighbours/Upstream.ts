/** HTTP server of the attacker, which functions request: it is slow, endless or huge. */
import { createServer, type ServerResponse } from "node:http"

const chunk = Buffer.alloc(64 * 1024, "x")

/** Bytes of a huge response, above the limit of a response. */
const hugeBytes = 64 * 1024 * 1024

const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
  /** Sends headers, then one byte per second. */
  "/trickle": (response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write("x"), 1_000)
    response.on("close", () => clearInterval(timer))
  },
  "/huge": (response) => {
    response.writeHead(200)
    let sent = 0
    const send = (): void => {
      while (!response.destroyed && sent < hugeBytes) {
        sent += chunk.length
        if (!response.write(chunk)) return void response.once("drain", send)
      }
      response.end()
    }
    send()
  },
  "/redirect": (response) => void response.writeHead(302, { location: "/redirect" }).end(),
  "/small": (response) => void response.end("x")
}

/** Listens on the loopback. Other paths never get a response. */
export const listenUpstream = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const server = createServer(({ url = "" }, response) => answers[url]?.(response))
    server.once("error", reject)
    server.listen(port, "127.0.0.1", resolve)
  })
