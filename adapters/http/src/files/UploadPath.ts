/**
 * The raw path of an upload, `PUT /v1/files/upload/{path}`.
 *
 * Routers decode paths before they match, return 404 for invalid encodings, and limit the length of a parameter. Upload
 * paths need exact validation instead, so the router gets a placeholder in place of the path.
 */
import { BadRequest } from "@weft/core"
import { Context, Effect } from "effect"
import { HttpServerRequest } from "effect/http"

const prefix = "/v1/files/upload/"

/** The path in the URL, not decoded, without the query. */
const RawUploadPath = Context.Reference<string>("@weft/http/files/RawUploadPath", { defaultValue: () => "" })

/** Wraps the router: replaces the upload path by a placeholder and provides the raw path. */
export const withRawUploadPath = <A, E, R>(
  routed: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | HttpServerRequest.HttpServerRequest> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    if (!request.url.startsWith(prefix)) return routed
    const query = request.url.indexOf("?")
    const raw = request.url.slice(prefix.length, query === -1 ? undefined : query)
    return routed.pipe(
      Effect.provideService(HttpServerRequest.HttpServerRequest, request.modify({ url: `${prefix}path` })),
      Effect.provideService(RawUploadPath, raw)
    )
  })

/** The path of the current upload, percent-decoded once. The service validates it. */
export const uploadPath: Effect.Effect<string, BadRequest> = Effect.flatMap(RawUploadPath, (raw) => {
  const path = decode(raw)
  return path === null ? Effect.fail(badEncoding) : Effect.succeed(path)
})

const badEncoding = new BadRequest({ reason: "path must be percent-encoded UTF-8" })

const decode = (raw: string): string | null => {
  if (!/^[\u0021-\u007e]*$/.test(raw)) return null
  try {
    return decodeURIComponent(raw)
  } catch {
    return null
  }
}
