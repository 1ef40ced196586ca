/** Connections whose TLS handshake is not complete. Node's HTTP server does not know them yet. */
import type { Server } from "node:https"
import type { Socket } from "node:net"
import type { TLSSocket } from "node:tls"

/**
 * Closes connections whose handshake fails or times out: nothing can be sent on them. Returns a function that closes those
 * that are incomplete, so that they do not delay a shutdown.
 */
export const watchHandshakes = (server: Server): (() => void) => {
  const open = new Set<Socket>()
  server.on("connection", (socket: Socket) => {
    open.add(socket)
    socket.once("close", () => open.delete(socket))
  })
  // Before Node's own listener, which would emit `clientError` for a socket that can be written.
  server.prependListener("tlsClientError", (_error: Error, socket: TLSSocket) => void socket.destroy())
  return () => {
    for (const socket of open) socket.destroy()
  }
}
