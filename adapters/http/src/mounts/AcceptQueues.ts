/**
 * Binds a server to an address with several accept queues.
 *
 * Node accepts one connection per listening socket and turn of the event loop. While strangers open 500 connections whose
 * first requests take 5 ms each, a client behind them would wait for seconds. With several sockets, the kernel distributes
 * connections over their queues.
 */
import { createServer, type Server as NetServer } from "node:net"

/** Listening sockets of an address. With 4, strangers that open and reset 900 connections a second kept others waiting 3 s. */
const queues = 32

export interface Bound {
  readonly port: number
  /** Stops accepting connections. Resolves when none is left. */
  readonly stopAccepting: () => Promise<void>
}

/** Binds the server. Rejects if another process listens there. */
export const bindServer = async (server: NetServer, host: string, port: number): Promise<Bound> => {
  // Other systems share a port without distributing its connections.
  if (process.platform !== "linux") {
    return { port: await listenOn(server, { host, port }), stopAccepting: () => closed(server) }
  }
  // A socket that shares its port would not notice another one that does.
  const probe = createServer()
  await listenOn(probe, { host, port })
  await closed(probe)
  const servers = [server]
  const stopAccepting = async () => void (await Promise.all(servers.map(closed)))
  try {
    const boundPort = await listenOn(server, { host, port, reusePort: true })
    for (let queue = 1; queue < queues; queue++) {
      const more = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit("connection", socket))
      servers.push(more)
      await listenOn(more, { host, port: boundPort, reusePort: true })
    }
    return { port: boundPort, stopAccepting }
  } catch (error) {
    await stopAccepting()
    throw error
  }
}

interface Address {
  readonly host: string
  readonly port: number
  readonly reusePort?: boolean
}

const listenOn = (server: NetServer, { host, port, reusePort = false }: Address): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", reject)
    server.listen({ host, port, reusePort }, () => {
      server.off("error", reject)
      const address = server.address()
      resolve(typeof address === "object" && address !== null ? address.port : port)
    })
  })

const closed = (server: NetServer): Promise<void> => new Promise((resolve) => server.close(() => resolve()))
