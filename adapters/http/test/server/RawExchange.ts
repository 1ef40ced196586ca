/** Raw connections to a server: bytes out, bytes in. */
import { connect, type Socket } from "node:net"

export interface Address {
  readonly host: string
  readonly port: number
}

/** A connection, and all bytes until its end. A reset counts as an end. */
export interface Raw {
  readonly socket: Socket
  readonly ended: Promise<string>
  readonly received: () => string
}

/** Opens a connection, from the address `localAddress` if given. */
export const openRaw = ({ host, port }: Address, localAddress?: string): Raw => {
  const socket = connect({ host, port, ...(localAddress === undefined ? {} : { localAddress }) })
  let text = ""
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1")
  })
  // The promise resolves at the end of the connection.
  socket.on("error", () => undefined)
  const ended = new Promise<string>((resolve, reject) => {
    socket.on("close", () => resolve(text))
    socket.setTimeout(10_000, () => {
      socket.destroy()
      reject(new Error(`the server keeps silent after ${JSON.stringify(text.slice(0, 200))}`))
    })
  })
  // Callers that only send ignore the result.
  ended.catch(() => undefined)
  return { socket, ended, received: () => text }
}

/** Sends a text and returns all bytes until the server ends the connection. */
export const exchange = (address: Address, text: string): Promise<string> => {
  const { socket, ended } = openRaw(address)
  socket.write(text, "latin1")
  return ended
}
