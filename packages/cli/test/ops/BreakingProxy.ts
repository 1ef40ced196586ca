/** An HTTP proxy that interrupts connections on request and counts the parts of uploads. */
import { createServer, request, type Server } from "node:http"
import type { AddressInfo } from "node:net"

export class BreakingProxy {
  readonly #server: Server
  readonly url: string
  /** Number of forwarded parts. */
  parts = 0
  /** Maximum number of forwarded parts. */
  partsMax = Number.POSITIVE_INFINITY
  /** True to close each connection. */
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

  /** Closes all connections, and new ones until `isDown` is false. */
  goDown(): void {
    this.isDown = true
    this.#server.closeAllConnections()
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
