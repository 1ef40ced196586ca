/** A TCP proxy between a node and its database that can simulate network failures. */
import { connect, createServer, type Socket } from "node:net"

/**
 * The state of a proxy.
 *
 * - `open`: forwards all data.
 * - `cut`: closes all connections and rejects new ones.
 * - `blackhole`: delays all data until the proxy is open again, without closing connections.
 */
export type Passage = "open" | "cut" | "blackhole"

export interface TcpProxy {
  readonly port: number
  readonly set: (passage: Passage) => void
  /** Connects new connections to another port. Open ones stay. */
  readonly retarget: (port: number) => void
  readonly close: () => Promise<void>
}

interface Pair {
  readonly near: Socket
  /** Connection to the target; null before it is opened. */
  far: Socket | null
}

export const tcpProxy = async (targetPort: number): Promise<TcpProxy> => {
  let target = targetPort
  const pairs = new Set<Pair>()
  let passage: Passage = "open"

  const drop = (pair: Pair): void => {
    pairs.delete(pair)
    pair.near.destroy()
    pair.far?.destroy()
  }
  const join = (pair: Pair): void => {
    if (pair.far !== null) {
      pair.near.resume()
      pair.far.resume()
      return
    }
    const far = connect(target, "127.0.0.1")
    pair.far = far
    far.setNoDelay(true)
    far.on("error", () => drop(pair))
    far.on("close", () => drop(pair))
    pair.near.on("data", (bytes) => far.write(bytes))
    far.on("data", (bytes) => pair.near.write(bytes))
  }
  const server = createServer((near) => {
    if (passage === "cut") return near.destroy()
    const pair: Pair = { near, far: null }
    pairs.add(pair)
    near.setNoDelay(true)
    near.on("error", () => drop(pair))
    near.on("close", () => drop(pair))
    if (passage === "open") join(pair)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    set: (next) => {
      passage = next
      for (const pair of [...pairs]) {
        if (next === "cut") drop(pair)
        else if (next === "open") join(pair)
        else {
          pair.near.pause()
          pair.far?.pause()
        }
      }
    },
    retarget: (next) => {
      target = next
    },
    close: () =>
      new Promise((resolve) => {
        for (const pair of [...pairs]) drop(pair)
        server.close(() => resolve())
      })
  }
}
