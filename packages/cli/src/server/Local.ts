/** Starts the local server within a scope, and its profile for other commands. */
import { Effect } from "effect"
import manifest from "../../package.json" with { type: "json" }
import { type Failure, failure } from "../Failure.ts"
import { Profiles } from "../profiles/Profiles.ts"
import { localName, withProfile } from "../profiles/ProfilesConfig.ts"

export interface LocalOptions {
  /** Folder of the server's data. */
  readonly folder: string
  /** 0 for any free port. */
  readonly port: number
}

/** Starts the server and points the profile `local` to it. An existing current profile remains current. */
export const startLocalServer = Effect.fnUntraced(function* (options: LocalOptions) {
  const profiles = yield* Profiles
  const { openLocalServer } = yield* Effect.promise(() => import("../hosting/LocalServer.ts"))
  const server = yield* Effect.acquireRelease(
    Effect.tryPromise({
      try: () => openLocalServer({ ...options, version: manifest.version }),
      catch: (error) => toStartFailure(error, options)
    }),
    ({ close }) => Effect.promise(close)
  )
  const { url, apiKey, adminToken } = server
  const config = yield* profiles.read
  yield* profiles.write(withProfile(config, localName, { url, api_key: apiKey, admin_token: adminToken }))
  return { url, apiKey, adminToken, isCurrent: (config.current ?? localName) === localName }
})

const toStartFailure = (error: unknown, { folder, port }: LocalOptions): Failure => {
  if (!(error instanceof Error)) throw error
  if ("code" in error && error.code === "EADDRINUSE") {
    return failure(
      "port_in_use",
      `Port ${port} is in use`,
      `stop the program that uses it, or choose another port: --port ${port + 1}`
    )
  }
  if ("_tag" in error && error._tag === "DatabaseInUse") {
    return failure("data_in_use", `Another server uses ${folder}`, "stop it, or choose another folder with --data")
  }
  return failure("server", `The server cannot be started: ${error.message}`)
}
