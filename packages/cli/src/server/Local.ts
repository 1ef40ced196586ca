/** The local server, its lifetime that of the scope, and the profile by which other commands find it. */
import { Effect } from "effect"
import manifest from "../../package.json" with { type: "json" }
import { type Failure, failure } from "../Failure.ts"
import { localName, withProfile } from "../profiles/ProfileBook.ts"
import { Profiles } from "../profiles/Profiles.ts"

export interface LocalOptions {
  /** Where everything is kept. */
  readonly folder: string
  /** 0 for any that is free. */
  readonly port: number
}

/** Starts the server, and makes the profile `local` lead to it; the current one stays what it is, if there is any. */
export const openLocal = Effect.fnUntraced(function* (options: LocalOptions) {
  const profiles = yield* Profiles
  const { openLocalServer } = yield* Effect.promise(() => import("../hosting/LocalServer.ts"))
  const server = yield* Effect.acquireRelease(
    Effect.tryPromise({
      try: () => openLocalServer({ ...options, version: manifest.version }),
      catch: (error) => unopened(error, options)
    }),
    ({ close }) => Effect.promise(close)
  )
  const { url, apiKey, adminToken } = server
  const book = yield* profiles.read
  yield* profiles.write(withProfile(book, localName, { url, api_key: apiKey, admin_token: adminToken }))
  return { url, apiKey, adminToken, isCurrent: (book.current ?? localName) === localName }
})

const unopened = (error: unknown, { folder, port }: LocalOptions): Failure => {
  if (!(error instanceof Error)) throw error
  if ("code" in error && error.code === "EADDRINUSE") {
    return failure("port_in_use", `Port ${port} is in use`, `end what uses it, or take another: --port ${port + 1}`)
  }
  if ("_tag" in error && error._tag === "DatabaseInUse") {
    return failure("data_in_use", `Another server uses ${folder}`, "end it, or take another folder with --data")
  }
  return failure("server", `The server cannot be started: ${error.message}`)
}
