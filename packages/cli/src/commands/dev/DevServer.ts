/** The server of `weft dev`: the selected one, or a local one in this process. */
import { createClient, WeftError } from "@weft/client"
import { Effect, Option, Path, Redacted } from "effect"
import { Api, makeApi, readVariables } from "../../connection/Api.ts"
import type { Target } from "../../connection/Target.ts"
import { Url } from "../../GlobalFlags.ts"
import { Output } from "../../output/Output.ts"
import { localName } from "../../profiles/ProfilesConfig.ts"
import { findFreePort } from "../../server/FreePort.ts"
import { startLocalServer } from "../../server/Local.ts"
import { dataFolder, defaultPort } from "../server/server.ts"

/**
 * Returns the selected server. Starts a local server if no server is named and that of the profile `local` does not
 * respond. It stores its data in the project, and listens on `port` or the first free port.
 */
export const devServer = Effect.fnUntraced(function* (folder: string, port: Option.Option<number>) {
  const path = yield* Path.Path
  const output = yield* Output
  const api = yield* Api
  const target = yield* api.target
  const isNamed = Option.isSome(yield* Url) || (yield* readVariables).url !== null || target.profile !== localName
  if (isNamed || (yield* isOurs(target))) return { api, url: target.url, isOwn: false }
  yield* output.status("starting a local server…")
  const { url, apiKey, adminToken } = yield* startLocalServer({
    folder: path.join(folder, dataFolder),
    port: Option.isSome(port) ? port.value : yield* findFreePort(defaultPort)
  })
  const own = { profile: localName, url, apiKey: Redacted.make(apiKey), adminToken: Redacted.make(adminToken) }
  return { api: makeApi(Effect.succeed(own)), url, isOwn: true }
})

/** True if the server accepts the key. Another user's server may listen on the same port. */
const isOurs = ({ url, apiKey }: Target) =>
  Effect.promise(async () => {
    if (apiKey === null) return false
    const weft = createClient({ baseUrl: url, token: Redacted.value(apiKey), retry: false, timeoutMs: 2_000 })
    try {
      await weft.env.get()
      return true
    } catch (error) {
      return error instanceof WeftError && error.code === "forbidden"
    }
  })
