/** A TCP proxy to the server that can be cut: it closes and rejects connections until it is restored. */
import { connect, createServer, type Socket } from "node:net"
import { Effect } from "effect"

export const proxy = (url: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const { hostname, port } = new URL(url)
        const sockets = new Set<Socket>()
        let isCut = false
        const server = createServer((near) => {
          if (isCut) return near.destroy()
          const far = connect(Number(port), hostname)
          for (const socket of [near, far]) {
            sockets.add(socket)
            socket
              .on("error", () => undefined)
              .on("close", () => {
                near.destroy()
                far.destroy()
                sockets.delete(socket)
              })
          }
          near.pipe(far).pipe(near)
        })
        await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
        const address = server.address()
        const through = new URL(url)
        through.hostname = "127.0.0.1"
        through.port = String(typeof address === "object" && address !== null ? address.port : 0)
        const cut = () => {
          isCut = true
          for (const socket of sockets) socket.destroy()
        }
        const restore = () => {
          isCut = false
        }
        return { server, url: through.href, cut, restore }
      }),
      ({ server, cut }) =>
        Effect.sync(() => {
          server.close()
          cut()
        })
    ),
    ({ url: through, cut, restore }) => ({ url: through, cut: Effect.sync(cut), restore: Effect.sync(restore) })
  )
