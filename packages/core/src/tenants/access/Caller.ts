/**
 * The identity of a request, and checks of its permissions.
 *
 * The HTTP layer turns a credential into a `Caller`; an embedding program acts as the host. Services do not distinguish
 * the two. Each permission is checked in one place: the service that needs it.
 */
import { Context, Effect, Schema } from "effect"
import { Forbidden } from "../../foundation/Errors.ts"
import { ApiKeyId, type EnvId } from "../../foundation/Ids.ts"
import {
  type Action,
  allows,
  clip,
  fullPermissions,
  type PermissionMap,
  type ResourceType,
  readable
} from "./Permission.ts"

export interface Identity {
  readonly env_id: EnvId
  /** Name of the preview that the caller entered; absent outside of previews. */
  readonly preview?: string
  /** `host` is the embedding program, which holds every permission. */
  readonly type: "api-key" | "service-key" | "session" | "host"
  /** Id of the credential, for audit logs; never the secret. Null for the host. */
  readonly id: string | null
  /** API key that created the session or service key; absent for other types. */
  readonly parent?: ApiKeyId
  readonly permissions: PermissionMap
  /** Metadata that the creator of a session or service key attached to it; null for other types. */
  readonly metadata: Schema.Json
}

export class Caller extends Context.Service<Caller, Identity>()("@weft/core/tenants/access/Caller") {}

/** Returns the identity of the embedding program in an environment. */
export const hostIdentity = (envId: EnvId): Identity => ({
  env_id: envId,
  type: "host",
  id: null,
  permissions: fullPermissions,
  metadata: null
})

/** Returns the JSON text of `svc.caller` (decisions 5.3). */
export const callerJson = (caller: Identity | null): string => {
  if (caller === null) return "null"
  const { type, id, permissions, metadata } = caller
  return JSON.stringify({ type, id, permissions, metadata })
}

/** Returns the error for a caller without the permission. */
export const forbidden = (type: ResourceType, path: string, action: Action): Forbidden =>
  new Forbidden({ permission: `${type}:${clip(path)} ${action}` })

/**
 * Returns the current caller if it holds `action` on a resource of `type`. The `paths` are alternative names of the
 * resource; one granted name suffices. With an empty list, the caller needs the action on any resource of the type,
 * which is the requirement for listing.
 */
export const requirePermission = (
  type: ResourceType,
  paths: string | ReadonlyArray<string>,
  action: Action
): Effect.Effect<Identity, Forbidden, Caller> =>
  Effect.flatMap(Caller, (caller) => {
    const names = typeof paths === "string" ? [paths] : paths
    const isAllowed =
      names.length === 0
        ? holdsAny(caller.permissions, type, action)
        : names.some((path) => allows(caller.permissions, type, path, action))
    return isAllowed ? Effect.succeed(caller) : Effect.fail(forbidden(type, names[0] ?? "*", action))
  })

/** Returns the error for operations that only API keys may use (decisions section 3). */
export const apiKeyRequired = (type: ResourceType, action: Action): Forbidden =>
  new Forbidden({ permission: `${type}:* ${action}, which only API keys can use` })

/** Returns the calling API key if it holds `action` on the whole type. Rejects other callers, including the host. */
export const requireApiKey = (
  type: ResourceType,
  action: Action
): Effect.Effect<Identity & { readonly id: ApiKeyId }, Forbidden, Caller> =>
  Effect.flatMap(requirePermission(type, "*", action), (caller) => {
    const { id } = caller
    return caller.type === "api-key" && isApiKeyId(id)
      ? Effect.succeed({ ...caller, id })
      : Effect.fail(apiKeyRequired(type, action))
  })

const isApiKeyId = Schema.is(ApiKeyId)

const holdsAny = (map: PermissionMap, type: ResourceType, action: Action): boolean => {
  const granted = readable(map, type, action)
  return granted === "all" || granted.length > 0
}
