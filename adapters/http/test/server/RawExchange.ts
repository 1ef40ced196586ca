/** Conversations with a server below HTTP: bytes out, bytes in. */
import { connect, type Socket } from "node:net"

export interface Address {
  readonly host: string
  readonly port: number
}

/** A connection, and what came in on it until its end; a reset is an end. */
export interface Raw {
  readonly socket: Socket
  readonly ended: Promise<string>
  readonly received: () => string
}

export const openRaw = ({ host, port }: Address): Raw => {
  const socket = connect(port, host)
  let text = ""
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1")
  })
  // What it comes to is told by its end.
  socket.on("error", () => undefined)
  const ended = new Promise<string>((resolve, reject) => {
    socket.on("close", () => resolve(text))
    socket.setTimeout(10_000, () => {
      socket.destroy()
      reject(new Error(`the server keeps silent after ${JSON.stringify(text.slice(0, 200))}`))
    })
  })
  // Who only sends does not ask.
  ended.catch(() => undefined)
  return { socket, ended, received: () => text }
}

/** Everything that the server says to this text until it ends the connection. */
export const exchange = (address: Address, text: string): Promise<string> => {
  const { socket, ended } = openRaw(address)
  socket.write(text, "latin1")
  return ended
}
