/** A proxy that adds a credential to every request, because the conformance suite has none. */
import { once } from "node:events"
import { createServer, request } from "node:http"

export interface CredentialProxy {
  /** Base URL without a trailing slash. */
  readonly url: string
  readonly close: () => Promise<void>
}

/** Forwards all requests, with their `Host` and `Origin`, to the server at `target`. */
export const openProxy = async (target: string, token: string): Promise<CredentialProxy> => {
  const server = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${token}` }
    const forwarded = request(`${target}${incoming.url}`, { method: incoming.method ?? "GET", headers }, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers)
      outgoing.flushHeaders()
      reply.pipe(outgoing)
    })
    forwarded.on("error", () => outgoing.destroy())
    outgoing.on("close", () => forwarded.destroy())
    incoming.pipe(forwarded)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    url: `http://localhost:${port}`,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    }
  }
}
