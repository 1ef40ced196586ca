/** A TCP proxy to a server that tests can cut, delay and stop. */
import { connect, createServer, type Server, type Socket } from "node:net"
import type { S3Server } from "@weft/tooling/services"

/** A fault of the next request that matches. */
export interface Fault {
  readonly request: RegExp
  /** Cuts the connection after this many bytes of the request. */
  readonly cutRequestAt?: number
  /** Cuts the connection after this many bytes of the response. */
  readonly cutResponseAt?: number
  /** Does not forward the request to the server. */
  readonly drop?: true
}

export interface FaultyProxy {
  readonly endPoint: string
  readonly port: number
  /** Adds faults. Each happens once, for the first request that matches. */
  readonly expect: (...faults: ReadonlyArray<Fault>) => void
  /** Returns the number of faults that have not happened yet. */
  readonly remaining: () => number
  /** Cuts all connections and accepts no more until `restart`. */
  readonly stop: () => Promise<void>
  readonly restart: () => Promise<void>
  readonly remove: () => Promise<void>
}

export const faultyProxy = async (to: S3Server): Promise<FaultyProxy> => {
  const faults: Array<Fault> = []
  const sockets = new Set<Socket>()
  let server: Server | null = null
  let port = 0

  const accept = (near: Socket) => {
    const far = connect(to.port, to.endPoint)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.once("close", () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
      socket.on("error", () => undefined)
    }
    forward(near, far, faults)
  }
  const listen = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const listening = createServer(accept).once("error", reject)
      listening.listen(port, "127.0.0.1", () => {
        const address = listening.address()
        if (typeof address === "object" && address !== null) port = address.port
        server = listening
        resolve()
      })
    })
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      if (server === null) return resolve()
      server.close(() => resolve())
      server = null
      for (const socket of sockets) socket.destroy()
    })

  await listen()
  return {
    endPoint: "127.0.0.1",
    port,
    expect: (...expected) => void faults.push(...expected),
    remaining: () => faults.length,
    stop: close,
    restart: listen,
    remove: close
  }
}

const beginning = /^(GET|HEAD|PUT|POST|DELETE) /

const forward = (near: Socket, far: Socket, faults: Array<Fault>): void => {
  let fault: Fault | null = null
  let sent = 0
  let answered = 0
  const cut = () => near.destroy()

  near.on("data", (chunk: Buffer) => {
    const head = chunk.toString("latin1", 0, 2048)
    if (beginning.test(head)) {
      const index = faults.findIndex(({ request }) => request.test(head))
      fault = (index === -1 ? undefined : faults.splice(index, 1)[0]) ?? null
      sent = 0
      answered = 0
    }
    if (fault?.drop) return
    sent += chunk.length
    if (fault?.cutRequestAt !== undefined && sent > fault.cutRequestAt) return cut()
    if (!far.write(chunk)) {
      near.pause()
      far.once("drain", () => near.resume())
    }
  })
  far.on("data", (chunk: Buffer) => {
    const allowed = (fault?.cutResponseAt ?? Number.POSITIVE_INFINITY) - answered
    answered += chunk.length
    if (chunk.length > allowed) {
      near.write(chunk.subarray(0, allowed), cut)
    } else if (!near.write(chunk)) {
      far.pause()
      near.once("drain", () => far.resume())
    }
  })
}
