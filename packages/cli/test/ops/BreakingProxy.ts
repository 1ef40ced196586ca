/** A way to a server that breaks off when it is told to, and counts the parts of uploads. */
import { createServer, request, type Server } from "node:http"
import type { AddressInfo } from "node:net"

export class BreakingProxy {
  readonly #server: Server
  readonly url: string
  /** Parts that went through. */
  parts = 0
  /** How many may go through. */
  partsMax = Number.POSITIVE_INFINITY
  /** Whether every connection breaks off. */
  isDown = false

  private constructor(server: Server) {
    this.#server = server
    const { port } = server.address() as AddressInfo
    this.url = `http://127.0.0.1:${port}`
  }

  static async start(target: string): Promise<BreakingProxy> {
    const { hostname, port } = new URL(target)
    const server = createServer((incoming, outgoing) => {
      if (proxy.isDown) return incoming.socket.destroy()
      const isPart = incoming.method === "PUT" && incoming.url?.startsWith("/v1/files/uploads/") === true
      if (isPart && proxy.parts >= proxy.partsMax) return incoming.socket.destroy()
      if (isPart) proxy.parts++
      const { method, url: path, headers } = incoming
      const onward = request({ hostname, port, method, path, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      })
      onward.on("error", () => outgoing.destroy())
      incoming.pipe(onward)
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const proxy = new BreakingProxy(server)
    return proxy
  }

  /** Breaks off all connections, and those that come until it is up again. */
  goDown(): void {
    this.isDown = true
    this.#server.closeAllConnections()
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
