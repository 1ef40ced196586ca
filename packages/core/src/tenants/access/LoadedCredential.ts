/** Loads a credential of any type for authentication, with its metadata decrypted. */
import { Effect } from "effect"
import type { NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import { ApiKeyId, ServiceKeyId, SessionId } from "../../foundation/Ids.ts"
import { fromJsonText } from "../../foundation/JsonText.ts"
import type { CannotOpen, Keyring, SealContext } from "../../platform/encryption/Keyring.ts"
import type { ApiKey } from "./ApiKey.ts"
import type { ApiKeyStore } from "./ApiKeyStore.ts"
import type { Identity } from "./Caller.ts"
import { openMetadata } from "./Metadata.ts"
import { intersect, type PermissionMap } from "./Permission.ts"
import { type ServiceKey, serviceKeyPlace } from "./ServiceKey.ts"
import type { ServiceKeyStore } from "./ServiceKeyStore.ts"
import { type Session, sessionPlace } from "./Session.ts"
import type { SessionStore } from "./SessionStore.ts"
import type { TokenType } from "./Token.ts"

/** Type and id. The type is part of the key because the host may choose the ids of API keys. */
export type CredentialKey = `${TokenType} ${string}`

export const credentialKey = (type: TokenType, id: string): CredentialKey => `${type} ${id}`

export interface LoadedCredential {
  readonly secretHash: string
  /** False for a disabled API key and for a revoked service key. */
  readonly isEnabled: boolean
  /** Expiry in epoch milliseconds; infinity without one. */
  readonly expiresAt: number
  /** API key that created the credential; null for an API key. */
  readonly parent: CredentialKey | null
  readonly identity: Identity
  /** Returns the identity limited to the permissions that the parent holds. */
  readonly narrowTo: (granted: PermissionMap) => Identity
}

export interface CredentialStores {
  readonly apiKeys: ApiKeyStore["Service"]
  readonly sessions: SessionStore["Service"]
  readonly serviceKeys: ServiceKeyStore["Service"]
}

/** Loads the credential of a key whose id is a UUID. */
export const loadCredential = (
  stores: CredentialStores,
  keyring: Keyring["Service"],
  key: CredentialKey
): Effect.Effect<LoadedCredential, NotFound | StoreUnavailable | CannotOpen> => {
  const [type = "", id = ""] = key.split(" ")
  if (type === "api-key") return Effect.map(stores.apiKeys.find(ApiKeyId.make(id)), fromApiKey)
  if (type === "session") {
    return Effect.flatMap(stores.sessions.find(SessionId.make(id)), (session) => fromSession(keyring, session))
  }
  return Effect.flatMap(stores.serviceKeys.find(ServiceKeyId.make(id)), (found) => fromServiceKey(keyring, found))
}

const fromApiKey = (key: ApiKey): LoadedCredential => {
  const { env_id, api_key_id, permissions } = key
  const identity: Identity = { env_id, type: "api-key", id: api_key_id, permissions, metadata: null }
  return {
    secretHash: key.secret_hash,
    isEnabled: key.enabled,
    expiresAt: Number.POSITIVE_INFINITY,
    parent: null,
    identity,
    narrowTo: memoizedNarrowing(identity)
  }
}

const fromSession = (keyring: Keyring["Service"], session: Session): Effect.Effect<LoadedCredential, CannotOpen> =>
  fromChild(keyring, session, "session", session.session_id, sessionPlace(session.session_id), {
    isEnabled: true,
    expiresAt: session.expires_at
  })

const fromServiceKey = (keyring: Keyring["Service"], key: ServiceKey): Effect.Effect<LoadedCredential, CannotOpen> =>
  fromChild(keyring, key, "service-key", key.service_key_id, serviceKeyPlace(key.service_key_id), {
    isEnabled: key.revoked_at === null,
    expiresAt: key.expires_at ?? Number.POSITIVE_INFINITY
  })

/** Builds the credential of a session or service key, which is limited by its API key. */
const fromChild = (
  keyring: Keyring["Service"],
  record: Pick<Session, "env_id" | "api_key_id" | "permissions" | "metadata" | "secret_hash">,
  type: "session" | "service-key",
  id: string,
  place: SealContext,
  state: Pick<LoadedCredential, "isEnabled" | "expiresAt">
): Effect.Effect<LoadedCredential, CannotOpen> =>
  Effect.map(openMetadata(keyring, record.metadata, place), (metadata) => {
    const { env_id, api_key_id: parent, permissions } = record
    const identity: Identity = { env_id, type, id, parent, permissions, metadata: fromJsonText(metadata) }
    return {
      ...state,
      secretHash: record.secret_hash,
      parent: credentialKey("api-key", record.api_key_id),
      identity,
      narrowTo: memoizedNarrowing(identity)
    }
  })

/** Caches the last result: `granted` is the same object until the parent is loaded again. */
const memoizedNarrowing = (identity: Identity): LoadedCredential["narrowTo"] => {
  let last: PermissionMap | undefined
  let narrowed = identity
  return (granted) => {
    if (granted !== last) {
      narrowed = { ...identity, permissions: intersect(identity.permissions, granted) }
      last = granted
    }
    return narrowed
  }
}
