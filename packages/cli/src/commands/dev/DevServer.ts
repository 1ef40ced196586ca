/** The server that `weft dev` talks to: the one that the user means, or a local one in this process. */
import { createClient, WeftError } from "@weft/client"
import { Effect, Option, Path, Redacted } from "effect"
import { Api, apiOf, readVariables } from "../../connection/Api.ts"
import type { Target } from "../../connection/Target.ts"
import { Url } from "../../GlobalFlags.ts"
import { Output } from "../../output/Output.ts"
import { localName } from "../../profiles/ProfileBook.ts"
import { freePort } from "../../server/FreePort.ts"
import { openLocal } from "../../server/Local.ts"
import { dataFolder, usualPort } from "../server/server.ts"

/**
 * Where no server is named, and none answers that the profile `local` is of, a local one is started, with its data in the
 * project. `port` is for that: without one, the first that is free.
 */
export const devServer = Effect.fnUntraced(function* (folder: string, port: Option.Option<number>) {
  const path = yield* Path.Path
  const output = yield* Output
  const api = yield* Api
  const target = yield* api.target
  const isNamed = Option.isSome(yield* Url) || (yield* readVariables).url !== null || target.profile !== localName
  if (isNamed || (yield* isOurs(target))) return { api, url: target.url, isOwn: false }
  yield* output.status("starting a local server…")
  const { url, apiKey, adminToken } = yield* openLocal({
    folder: path.join(folder, dataFolder),
    port: Option.isSome(port) ? port.value : yield* freePort(usualPort)
  })
  const own = { profile: localName, url, apiKey: Redacted.make(apiKey), adminToken: Redacted.make(adminToken) }
  return { api: apiOf(Effect.succeed(own)), url, isOwn: true }
})

/** Whether a server is there that knows the key. Others may use the same port for theirs. */
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
