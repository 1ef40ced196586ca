/** Refuses who cannot have the permission, before the request is decoded: 403 comes before 400. */
import { auditedAs, mayCover, type Need, needOf, Permitted } from "@weft/api"
import {
  Caller,
  Forbidden,
  forbidden,
  onlyApiKeys,
  PermissionEscalation,
  pathless,
  Refusals,
  readable
} from "@weft/core"
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"

export const PermittedLive: Layer.Layer<Permitted, never, Refusals> = Layer.effect(
  Permitted,
  Effect.map(Refusals, (refusals) =>
    Permitted.of((httpEffect, { endpoint, group }) => {
      const need = needOf(group.identifier, endpoint.identifier)
      if (need === undefined) throw new Error(`No permission is set for ${group.identifier}.${endpoint.identifier}`)
      const permitted = Effect.andThen(permission(need), httpEffect)
      const action = auditedAs(group.identifier, endpoint.identifier)
      if (action === undefined) return permitted
      return Effect.tapError(permitted, (error) =>
        error instanceof Forbidden || error instanceof PermissionEscalation ? refusals.permission(action) : Effect.void
      )
    })
  )
)

const permission = Effect.fnUntraced(function* ({ type, action, or, also, on, callers }: Need) {
  const { permissions, type: caller } = yield* Caller
  if (callers !== undefined && caller !== callers) return yield* onlyApiKeys(type, action)
  const granted = readable(permissions, type, action)
  const isGranted = granted === "all" || granted.length > 0
  if (isGranted && also !== undefined && readable(permissions, also.type, also.action).length === 0) {
    return yield* forbidden(also.type, "*", also.action)
  }
  if (granted === "all") return
  // Which of two actions is needed, and on what, is for the service to say.
  if (or !== undefined && readable(permissions, type, or).length > 0) return
  if (granted.length === 0 || pathless.has(type)) return yield* forbidden(type, "*", action)
  if (on === "project") {
    const { project_id_or_slug = "" } = yield* HttpRouter.params
    if (!mayCover(granted, project_id_or_slug)) return yield* forbidden(type, project_id_or_slug, action)
  }
})
