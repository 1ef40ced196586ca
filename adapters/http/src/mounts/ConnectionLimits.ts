/** Limits of open connections, and a timeout for clients that do not read. */
import type { Server } from "node:http"
import type { Server as HttpsServer } from "node:https"
import type { Socket } from "node:net"

export interface ConnectionLimits {
  /** Maximum connections of all clients together. Further ones are closed immediately. */
  readonly total: number
  /** Maximum connections from one address. Null for no limit, because all connections of a proxy share its address. */
  readonly perAddress: number | null
  /** Maximum time in which the client reads no byte of a pending response, in milliseconds. */
  readonly sendIdleMs: number
}

/** Applies the limits. `isAnswering` returns true while a request of the connection has no complete response. */
export const limitConnections = (
  server: Server | HttpsServer,
  { total, perAddress, sendIdleMs }: ConnectionLimits,
  isAnswering: (socket: Socket) => boolean
): void => {
  limitTotal(server, total)
  if (perAddress !== null) limitAddresses(server, perAddress)
  // Node restarts this timeout whenever bytes move, also while the system still sends buffered bytes.
  server.setTimeout(sendIdleMs, (socket: Socket) => {
    // A function may run longer than the timeout before it sends a byte.
    if (isAnswering(socket) && socket.writableLength === 0) socket.setTimeout(sendIdleMs)
    else socket.destroy()
  })
}

/** Limits the connections of all accept queues, of which `server.maxConnections` counts one. */
const limitTotal = (server: Server | HttpsServer, maximum: number): void => {
  let count = 0
  server.on("connection", (socket: Socket) => {
    if (count >= maximum) return void socket.destroy()
    count++
    socket.once("close", () => count--)
  })
}

const limitAddresses = (server: Server | HttpsServer, maximum: number): void => {
  const counts = new Map<string, number>()
  server.on("connection", (socket: Socket) => {
    const { remoteAddress } = socket
    // Already disconnected.
    if (remoteAddress === undefined) return
    const count = (counts.get(remoteAddress) ?? 0) + 1
    if (count > maximum) return void socket.destroy()
    counts.set(remoteAddress, count)
    socket.once("close", () => {
      const remaining = (counts.get(remoteAddress) ?? 1) - 1
      if (remaining === 0) counts.delete(remoteAddress)
      else counts.set(remoteAddress, remaining)
    })
  })
}
