/**
 * The path of an upload, `PUT /v1/files/upload/{path}`, as it was sent.
 *
 * Routers decode paths before they match, refuse what does not decode as unknown, and bound the length of a parameter.
 * None of that is for a path that is judged as sent, hence the router gets a placeholder in its place.
 */
import { BadRequest } from "@weft/core"
import { Context, Effect } from "effect"
import { HttpServerRequest } from "effect/http"

const prefix = "/v1/files/upload/"

/** As it stands in the URL, without the query. */
export const SentUploadPath = Context.Reference<string>("@weft/http/files/SentUploadPath", { defaultValue: () => "" })

/** Around the router. */
export const withSentUploadPath = <A, E, R>(
  routed: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | HttpServerRequest.HttpServerRequest> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    if (!request.url.startsWith(prefix)) return routed
    const query = request.url.indexOf("?")
    const sent = request.url.slice(prefix.length, query === -1 ? undefined : query)
    return routed.pipe(
      Effect.provideService(HttpServerRequest.HttpServerRequest, request.modify({ url: `${prefix}path` })),
      Effect.provideService(SentUploadPath, sent)
    )
  })

/** The path of the current upload, percent-decoded once. Whether it is one of a file is for the service to say. */
export const uploadPath: Effect.Effect<string, BadRequest> = Effect.flatMap(SentUploadPath, (sent) => {
  const path = decode(sent)
  return path === null ? Effect.fail(badEncoding) : Effect.succeed(path)
})

const badEncoding = new BadRequest({ reason: "path must be percent-encoded UTF-8" })

const decode = (sent: string): string | null => {
  if (!/^[\u0021-\u007e]*$/.test(sent)) return null
  try {
    return decodeURIComponent(sent)
  } catch {
    return null
  }
}
