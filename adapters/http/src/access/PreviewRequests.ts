/** Requests that act on a preview: those with the header `Weft-Preview` or the query parameter `preview`. */
import { BadRequest, Caller, type Previews } from "@weft/core"
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"

const header = "weft-preview"

/** Groups and endpoints whose records belong to the environment and not to a preview. */
const refusedGroups: ReadonlySet<string> = new Set(["previews", "canaries", "domains", "sessions", "serviceKeys"])
const refusedEndpoints: ReadonlySet<string> = new Set([
  ...["projects.create", "projects.update", "projects.remove"],
  ...["builds.upload", "builds.deploy", "builds.endLive"]
])

/** Returns the name of the preview that the request names, or null. */
const previewOf = ({ headers, url }: HttpServerRequest.HttpServerRequest): string | null => {
  const named = headers[header]
  if (named !== undefined) return named
  const mark = url.indexOf("?")
  if (mark === -1 || !url.includes("preview=", mark)) return null
  return new URLSearchParams(url.slice(mark + 1)).get("preview")
}

/** Runs the handler as the caller within the preview that the request names; without one, as it is. */
export const inPreview =
  (previews: Previews["Service"], group: string, endpoint: string) =>
  <A, E, R>(
    handled: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | BadRequest, R | Caller | HttpServerRequest.HttpServerRequest> =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request): Effect.Effect<A, E | BadRequest, R | Caller> => {
      const name = previewOf(request)
      if (name === null) return handled
      if (refusedGroups.has(group) || refusedEndpoints.has(`${group}.${endpoint}`)) return Effect.fail(refused)
      return Effect.gen(function* () {
        const entered = yield* Effect.catchTag(previews.enter(yield* Caller, name), "StoreUnavailable", Effect.die)
        return yield* Effect.provideService(handled, Caller, entered)
      })
    })

const refused = new BadRequest({
  reason:
    "preview: this request acts on the environment; a preview is changed with PUT /v1/projects/{project}/previews/{name}"
})
