/** Servers on loopback for the tests in this folder, and requests to them as from a guest. */
import { once } from "node:events"
import { createServer, type RequestListener, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { EnvId } from "@weft/core"
import { Egress, type EgressRequest } from "@weft/core/adapter"
import { Effect, Stream } from "effect"

export interface LocalServer {
  readonly port: number
  /** `http://ADDRESS:PORT` of the listener. */
  readonly url: string
  /** Number of connections so far. */
  readonly accepted: () => number
  /** Completes when no connection is open. */
  readonly quiet: () => Promise<void>
}

export interface ServeOptions {
  readonly address?: string
  readonly port?: number
  readonly make?: (handle: RequestListener) => Server
}

/** Listens until the scope ends. */
export const serve = (handle: RequestListener, options: ServeOptions = {}) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => open(handle, options)),
      ({ server }) =>
        Effect.promise(async () => {
          server.closeAllConnections()
          await new Promise((resolve) => server.close(resolve))
        })
    ),
    ({ local }) => local
  )

const open = async (
  handle: RequestListener,
  { address = "127.0.0.1", port = 0, make = createServer }: ServeOptions
) => {
  const server = make(handle)
  let accepted = 0
  let current = 0
  server.on("connection", (socket) => {
    accepted++
    current++
    socket.on("close", () => {
      current--
      server.emit("quieter")
    })
  })
  await once(server.listen(port, address), "listening")
  const bound = portOf(server.address())
  const local: LocalServer = {
    port: bound,
    url: `http://${address}:${bound}`,
    accepted: () => accepted,
    quiet: async () => {
      while (current > 0) await once(server, "quieter")
    }
  }
  return { server, local }
}

const portOf = (address: string | AddressInfo | null): number => {
  if (address === null || typeof address === "string") throw new Error("the server has no port")
  return address.port
}

export const envOf = (number: number): EnvId =>
  EnvId.make(`01890000-0000-7000-8000-${String(number).padStart(12, "0")}`)

/** Sends a request and reads the body as text. */
export const ask = (url: string, request: Partial<EgressRequest> = {}, env: EnvId = envOf(1)) =>
  Effect.scoped(
    Effect.gen(function* () {
      const egress = yield* Egress
      const response = yield* egress.send(env, { ...plain(url), ...request })
      const chunks = yield* Stream.runCollect(response.body)
      return { ...response, body: Buffer.concat(chunks).toString() }
    })
  )

export const plain = (url: string): EgressRequest => ({
  method: "GET",
  url,
  headers: [],
  body: null,
  redirect: "follow"
})

/** Returns the tag and the message of the error of a request that must fail. */
export const refusal = (url: string, request: Partial<EgressRequest> = {}) =>
  Effect.map(Effect.flip(ask(url, request)), (error) => [error._tag, error.message])
