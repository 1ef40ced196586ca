/** TCP ports of the loopback interface. */
import { connect, createServer } from "node:net"

/** Returns a port that is free at the moment of the call. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() =>
        typeof address === "object" && address !== null
          ? resolve(address.port)
          : reject(new Error("The server does not listen on a TCP port"))
      )
    })
  })

/** True if a server accepts connections on the port. */
export const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    const answer = (open: boolean) => () => {
      socket.destroy()
      resolve(open)
    }
    socket.once("connect", answer(true)).once("error", answer(false))
  })
