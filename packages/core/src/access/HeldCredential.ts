/** A credential of whatever kind as authentication needs it: read from its store, its metadata opened. */
import { Effect } from "effect"
import type { CannotOpen, Keyring, Place } from "../encryption/Keyring.ts"
import type { NotFound, StoreUnavailable } from "../errors/Errors.ts"
import { ApiKeyId, ServiceKeyId, SessionId } from "../ids/Ids.ts"
import { fromJsonText } from "../ids/JsonText.ts"
import type { ApiKey } from "./ApiKey.ts"
import type { ApiKeyStore } from "./ApiKeyStore.ts"
import type { Identity } from "./Caller.ts"
import { openMetadata } from "./Metadata.ts"
import { meet, type PermissionMap } from "./Permission.ts"
import { type ServiceKey, serviceKeyPlace } from "./ServiceKey.ts"
import type { ServiceKeyStore } from "./ServiceKeyStore.ts"
import { type Session, sessionPlace } from "./Session.ts"
import type { SessionStore } from "./SessionStore.ts"
import type { TokenType } from "./Token.ts"

/** Kinds have ids of their own: an API key may have one that the host brought along. */
export type CredentialKey = `${TokenType} ${string}`

export const credentialKey = (type: TokenType, id: string): CredentialKey => `${type} ${id}`

export interface Held {
  readonly secretHash: string
  /** False for a disabled API key and for a revoked service key. */
  readonly isEnabled: boolean
  /** Epoch milliseconds from which on it is not valid; infinite for one that does not expire. */
  readonly expiresAt: number
  /** The API key that handed it out; null for an API key. */
  readonly parent: CredentialKey | null
  readonly identity: Identity
  /** The identity while the parent holds these permissions: a child never exceeds it. */
  readonly under: (granted: PermissionMap) => Identity
}

export interface CredentialStores {
  readonly apiKeys: ApiKeyStore["Service"]
  readonly sessions: SessionStore["Service"]
  readonly serviceKeys: ServiceKeyStore["Service"]
}

/** The credential of a key whose id is a UUID. */
export const heldCredential = (
  stores: CredentialStores,
  keyring: Keyring["Service"],
  key: CredentialKey
): Effect.Effect<Held, NotFound | StoreUnavailable | CannotOpen> => {
  const [type = "", id = ""] = key.split(" ")
  if (type === "api-key") return Effect.map(stores.apiKeys.find(ApiKeyId.make(id)), ofApiKey)
  if (type === "session") {
    return Effect.flatMap(stores.sessions.find(SessionId.make(id)), (session) => ofSession(keyring, session))
  }
  return Effect.flatMap(stores.serviceKeys.find(ServiceKeyId.make(id)), (found) => ofServiceKey(keyring, found))
}

const ofApiKey = (key: ApiKey): Held => {
  const { env_id, api_key_id, permissions } = key
  const identity: Identity = { env_id, type: "api-key", id: api_key_id, permissions, metadata: null }
  return {
    secretHash: key.secret_hash,
    isEnabled: key.enabled,
    expiresAt: Number.POSITIVE_INFINITY,
    parent: null,
    identity,
    under: narrowing(identity)
  }
}

const ofSession = (keyring: Keyring["Service"], session: Session): Effect.Effect<Held, CannotOpen> =>
  handedOut(keyring, session, "session", session.session_id, sessionPlace(session.session_id), {
    isEnabled: true,
    expiresAt: session.expires_at
  })

const ofServiceKey = (keyring: Keyring["Service"], key: ServiceKey): Effect.Effect<Held, CannotOpen> =>
  handedOut(keyring, key, "service-key", key.service_key_id, serviceKeyPlace(key.service_key_id), {
    isEnabled: key.revoked_at === null,
    expiresAt: key.expires_at ?? Number.POSITIVE_INFINITY
  })

const handedOut = (
  keyring: Keyring["Service"],
  record: Pick<Session, "env_id" | "api_key_id" | "permissions" | "metadata" | "secret_hash">,
  type: "session" | "service-key",
  id: string,
  place: Place,
  state: Pick<Held, "isEnabled" | "expiresAt">
): Effect.Effect<Held, CannotOpen> =>
  Effect.map(openMetadata(keyring, record.metadata, place), (metadata) => {
    const { env_id, api_key_id: parent, permissions } = record
    const identity: Identity = { env_id, type, id, parent, permissions, metadata: fromJsonText(metadata) }
    return {
      ...state,
      secretHash: record.secret_hash,
      parent: credentialKey("api-key", record.api_key_id),
      identity,
      under: narrowing(identity)
    }
  })

/** Remembers the last answer: the same map comes again until the parent's copy is read anew. */
const narrowing = (identity: Identity): Held["under"] => {
  let last: PermissionMap | undefined
  let narrowed = identity
  return (granted) => {
    if (granted !== last) {
      narrowed = { ...identity, permissions: meet(identity.permissions, granted) }
      last = granted
    }
    return narrowed
  }
}
