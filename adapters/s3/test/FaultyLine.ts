/** A line to a server that tests can cut, hold up and take away: a proxy of TCP connections. */
import { connect, createServer, type Server, type Socket } from "node:net"
import type { S3Server } from "@weft/tooling/services"

/** What happens to the next request that begins like this. */
export interface Fault {
  readonly request: RegExp
  /** Cuts the connection when so many bytes of the request have passed. */
  readonly cutRequestAt?: number
  /** Cuts it when so many bytes of the answer have passed. */
  readonly cutAnswerAt?: number
  /** The server never hears of it. */
  readonly swallow?: true
}

export interface FaultyLine {
  readonly endPoint: string
  readonly port: number
  /** Each fault happens once, the first that fits. */
  readonly expect: (...faults: ReadonlyArray<Fault>) => void
  /** Faults that have not happened yet. */
  readonly left: () => number
  /** Cuts all connections and takes no more, until `comeBack`. */
  readonly goAway: () => Promise<void>
  readonly comeBack: () => Promise<void>
  readonly remove: () => Promise<void>
}

export const faultyLine = async (to: S3Server): Promise<FaultyLine> => {
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
    carry(near, far, faults)
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
    left: () => faults.length,
    goAway: close,
    comeBack: listen,
    remove: close
  }
}

const beginning = /^(GET|HEAD|PUT|POST|DELETE) /

const carry = (near: Socket, far: Socket, faults: Array<Fault>): void => {
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
    if (fault?.swallow) return
    sent += chunk.length
    if (fault?.cutRequestAt !== undefined && sent > fault.cutRequestAt) return cut()
    if (!far.write(chunk)) {
      near.pause()
      far.once("drain", () => near.resume())
    }
  })
  far.on("data", (chunk: Buffer) => {
    const room = (fault?.cutAnswerAt ?? Number.POSITIVE_INFINITY) - answered
    answered += chunk.length
    if (chunk.length > room) {
      near.write(chunk.subarray(0, room), cut)
    } else if (!near.write(chunk)) {
      far.pause()
      near.once("drain", () => far.resume())
    }
  })
}
