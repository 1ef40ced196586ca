/** Finds a free TCP port. */
import { createServer } from "node:net"
import { Effect } from "effect"

/** Maximum number of ports to try. */
const tries = 20

/** Returns the first free port from `first` on, or 0. Another process may still take it before its use. */
export const findFreePort = Effect.fnUntraced(function* (first: number) {
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
