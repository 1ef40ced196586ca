/**
 * Who is asking, and what they may do.
 *
 * The HTTP layer turns a credential into a `Caller`; an embedding program acts as the host. Everything
 * behind it is the same, so a permission is checked in exactly one place: the service that needs it.
 */
import { Context, Effect, Schema } from "effect"
import { Forbidden } from "../errors/Errors.ts"
import { ApiKeyId, type EnvId } from "../ids/Ids.ts"
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
  /** `host`: the embedding program itself, which holds every permission. */
  readonly type: "api-key" | "service-key" | "session" | "host"
  /** The id of the credential, for audit logs; never the secret. Null for the host. */
  readonly id: string | null
  /** The API key that handed out a session or service key; left out for all others. */
  readonly parent?: ApiKeyId
  readonly permissions: PermissionMap
  /** What the creator of a session or service key attached to it; null for all others. */
  readonly metadata: Schema.Json
}

export class Caller extends Context.Service<Caller, Identity>()("@weft/core/access/Caller") {}

/** The embedding program, acting in an environment. */
export const hostIdentity = (envId: EnvId): Identity => ({
  env_id: envId,
  type: "host",
  id: null,
  permissions: fullPermissions,
  metadata: null
})

/** JSON text of `svc.caller` (decisions 5.3). */
export const callerFacts = (caller: Identity | null): string => {
  if (caller === null) return "null"
  const { type, id, permissions, metadata } = caller
  return JSON.stringify({ type, id, permissions, metadata })
}

/** What a caller without the permission is told. */
export const forbidden = (type: ResourceType, path: string, action: Action): Forbidden =>
  new Forbidden({ permission: `${type}:${clip(path)} ${action}` })

/**
 * The current caller, if it holds `action` on one of the `paths` of `type`: names of one resource, any of which
 * suffices. Without any path: if it holds the action on anything of the type, as the list of the type needs.
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

/** What a caller is told where only API keys may go (decisions section 3). */
export const onlyApiKeys = (type: ResourceType, action: Action): Forbidden =>
  new Forbidden({ permission: `${type}:* ${action}, which only API keys can use` })

/** The calling API key, if it holds `action` on the whole type. Whoever else asks is refused, the host included. */
export const requireApiKey = (
  type: ResourceType,
  action: Action
): Effect.Effect<Identity & { readonly id: ApiKeyId }, Forbidden, Caller> =>
  Effect.flatMap(requirePermission(type, "*", action), (caller) => {
    const { id } = caller
    return caller.type === "api-key" && isApiKeyId(id)
      ? Effect.succeed({ ...caller, id })
      : Effect.fail(onlyApiKeys(type, action))
  })

const isApiKeyId = Schema.is(ApiKeyId)

const holdsAny = (map: PermissionMap, type: ResourceType, action: Action): boolean => {
  const granted = readable(map, type, action)
  return granted === "all" || granted.length > 0
}
