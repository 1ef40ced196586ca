/** Rejects callers without the permission before the request is decoded, so that 403 precedes 400. */
import { type EndpointPermission, mayCover, Permitted, permissionOf } from "@weft/api"
import { Caller, Forbidden, PermissionEscalation, Previews } from "@weft/core"
import { pathless } from "@weft/core/adapter"
import { apiKeyRequired, forbidden, Refusals, readable } from "@weft/core/internal"
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { requireUtf8Query } from "../encoding/UrlEncoding.ts"
import { rejectDeepJson, takesJson } from "../responses/JsonNesting.ts"
import { inPreview } from "./PreviewRequests.ts"

export const PermittedLive: Layer.Layer<Permitted, never, Refusals | Previews> = Layer.effect(
  Permitted,
  Effect.gen(function* () {
    const refusals = yield* Refusals
    const previews = yield* Previews
    return Permitted.of((httpEffect, { endpoint, group }) => {
      const required = permissionOf(endpoint)
      if (required === null) throw new Error(`No permission is set for ${group.identifier}.${endpoint.identifier}`)
      const decoded = takesJson(endpoint) ? Effect.andThen(rejectDeepJson, httpEffect) : httpEffect
      const permitted = Effect.andThen(Effect.andThen(checkPermission(required), requireUtf8Query), decoded)
      const enter = inPreview(previews, group.identifier, endpoint.identifier)
      const action = required.audit
      if (action === undefined) return enter(permitted)
      return enter(
        Effect.tapError(permitted, (error) =>
          error instanceof Forbidden || error instanceof PermissionEscalation
            ? refusals.permission(action)
            : Effect.void
        )
      )
    })
  })
)

const checkPermission = Effect.fnUntraced(function* ({ type, action, or, also, on, callers }: EndpointPermission) {
  const { permissions, type: caller } = yield* Caller
  if (callers !== undefined && caller !== callers) return yield* apiKeyRequired(type, action)
  const granted = readable(permissions, type, action)
  const isGranted = granted === "all" || granted.length > 0
  if (isGranted && also !== undefined && readable(permissions, also.type, also.action).length === 0) {
    return yield* forbidden(also.type, "*", also.action)
  }
  if (granted === "all") return
  // The service decides which of the two actions is needed, and on which resource.
  if (or !== undefined && readable(permissions, type, or).length > 0) return
  if (granted.length === 0 || pathless.has(type)) return yield* forbidden(type, "*", action)
  if (on === "project") {
    const { project_id_or_slug = "" } = yield* HttpRouter.params
    if (!mayCover(granted, project_id_or_slug)) return yield* forbidden(type, project_id_or_slug, action)
  }
})
