/** Which port of this machine can be had. */
import { createServer } from "node:net"
import { Effect } from "effect"

/** How many are tried before any other one is taken. */
const tries = 20

/** The first free one from `first` on; whoever is quick can still take it before it is used. */
export const freePort = Effect.fnUntraced(function* (first: number) {
  for (let port = first; port < first + tries; port++) {
    if (yield* isFree(port)) return port
  }
  return 0
})

const isFree = (port: number) =>
  Effect.callback<boolean>((resume) => {
    const server = createServer()
    server.once("error", () => resume(Effect.succeed(false)))
    server.listen(port, "127.0.0.1", () => server.close(() => resume(Effect.succeed(true))))
  })
