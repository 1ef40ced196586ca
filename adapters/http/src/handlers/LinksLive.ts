/** Handlers for `LinksApi`. */
import { WeftApi } from "@weft/api"
import { FileLinks } from "@weft/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { downloadFile } from "../files/Download.ts"

export const LinksLive = HttpApiBuilder.group(
  WeftApi,
  "links",
  Effect.fnUntraced(function* (handlers) {
    const links = yield* FileLinks
    return handlers.handleAll({
      open: ({ params, query: { env_id = "", expires = "", signature = "" } }) =>
        Effect.flatMap(links.open({ ...params, env_id, expires, signature }), downloadFile)
    })
  })
)
