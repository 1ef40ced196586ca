/** Ports of the loopback: free ones, and whether somebody listens. */
import { connect, createServer } from "node:net"

/** Free at this moment, on the loopback. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() =>
        typeof address === "object" && address !== null ? resolve(address.port) : reject(new Error("no port"))
      )
    })
  })

/** Whether somebody listens on the port. */
export const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    const answer = (open: boolean) => () => {
      socket.destroy()
      resolve(open)
    }
    socket.once("connect", answer(true)).once("error", answer(false))
  })
