/** How many connections a server keeps open, and how long it waits for who does not read. */
import type { Server } from "node:http"
import type { Server as HttpsServer } from "node:https"
import type { Socket } from "node:net"

export interface ConnectionLimits {
  /** Connections of all clients together; those beyond are closed at once. */
  readonly total: number
  /** Connections from one address; null for no limit, as behind a proxy all have the same. */
  readonly perAddress: number | null
  /** How long an answer may wait without its client taking a byte of it, in milliseconds. */
  readonly sendIdleMs: number
}

/** `isAnswering`: whether a request of the connection has no whole answer yet. */
export const limitConnections = (
  server: Server | HttpsServer,
  { total, perAddress, sendIdleMs }: ConnectionLimits,
  isAnswering: (socket: Socket) => boolean
): void => {
  server.maxConnections = total
  if (perAddress !== null) limitAddresses(server, perAddress)
  // Node begins anew whenever bytes move, also while the system still has some to send.
  server.setTimeout(sendIdleMs, (socket: Socket) => {
    // A function may think longer than that, and says nothing meanwhile.
    if (isAnswering(socket) && socket.writableLength === 0) socket.setTimeout(sendIdleMs)
    else socket.destroy()
  })
}

const limitAddresses = (server: Server | HttpsServer, most: number): void => {
  const counts = new Map<string, number>()
  server.on("connection", (socket: Socket) => {
    const { remoteAddress } = socket
    // Gone already.
    if (remoteAddress === undefined) return
    const count = (counts.get(remoteAddress) ?? 0) + 1
    if (count > most) return void socket.destroy()
    counts.set(remoteAddress, count)
    socket.once("close", () => {
      const left = (counts.get(remoteAddress) ?? 1) - 1
      if (left === 0) counts.delete(remoteAddress)
      else counts.set(remoteAddress, left)
    })
  })
}
