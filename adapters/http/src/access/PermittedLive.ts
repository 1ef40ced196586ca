/** Refuses who cannot have the permission, before the request is decoded: 403 comes before 400. */
import { mayCover, needOf, Permitted } from "@weft/api"
import { Caller, forbidden, onlyApiKeys, pathless, readable } from "@weft/core"
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"

export const PermittedLive: Layer.Layer<Permitted> = Layer.succeed(Permitted, (httpEffect, { endpoint, group }) => {
  const need = needOf(group.identifier, endpoint.identifier)
  if (need === undefined) throw new Error(`No permission is set for ${group.identifier}.${endpoint.identifier}`)
  const { type, action, or, also, on, callers } = need
  return Effect.gen(function* () {
    const { permissions, type: caller } = yield* Caller
    if (callers !== undefined && caller !== callers) return yield* onlyApiKeys(type, action)
    const granted = readable(permissions, type, action)
    const isGranted = granted === "all" || granted.length > 0
    if (isGranted && also !== undefined && readable(permissions, also.type, also.action).length === 0) {
      return yield* forbidden(also.type, "*", also.action)
    }
    if (granted === "all") return yield* httpEffect
    // Which of two actions is needed, and on what, is for the service to say.
    if (or !== undefined && readable(permissions, type, or).length > 0) return yield* httpEffect
    if (granted.length === 0 || pathless.has(type)) return yield* forbidden(type, "*", action)
    if (on === "project") {
      const { project_id_or_slug = "" } = yield* HttpRouter.params
      if (!mayCover(granted, project_id_or_slug)) return yield* forbidden(type, project_id_or_slug, action)
    }
    return yield* httpEffect
  })
})
