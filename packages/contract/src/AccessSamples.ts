/** Sample sessions and service keys; see `Samples.ts`. */
import { PermissionMap, Sealed, ServiceKey, ServiceKeyId, Session, SessionId } from "@weft/core/adapter"
import { apiKeyId, at, envId } from "./Samples.ts"

const uuid = (kind: string, n: number): string => `01976a2b-${kind}-7000-8000-${n.toString(16).padStart(12, "0")}`

export const sessionId = (n: number): SessionId => SessionId.make(uuid("00b0", n))
export const serviceKeyId = (n: number): ServiceKeyId => ServiceKeyId.make(uuid("00b1", n))

/** A session of API key 1 that is active from `at(n)` until `at(n + 1000)`. */
export const session = (n: number, fields: { readonly [K in keyof Session]?: Session[K] } = {}): Session =>
  new Session({
    session_id: sessionId(n),
    env_id: envId(1),
    api_key_id: apiKeyId(1),
    permissions: PermissionMap.make({ "event:*": ["create", "read"] }),
    metadata: null,
    secret_hash: "0".repeat(64),
    expires_at: at(n + 1000),
    created_at: at(n),
    ...fields
  })

/** A service key of API key 1 that never expires. */
export const serviceKey = (n: number, fields: { readonly [K in keyof ServiceKey]?: ServiceKey[K] } = {}): ServiceKey =>
  new ServiceKey({
    service_key_id: serviceKeyId(n),
    env_id: envId(1),
    api_key_id: apiKeyId(1),
    name: `key ${n}`,
    description: "",
    permissions: PermissionMap.make({ "mcp:*": ["execute"] }),
    metadata: null,
    secret_hash: "0".repeat(64),
    expires_at: null,
    revoked_at: null,
    created_at: at(n),
    ...fields
  })

/** A sealed value. Stores treat it as opaque text. */
export const sealed = Sealed.make("0123456789abcdef.AAECAwQFBgcICQoL.c2VhbGVk")
