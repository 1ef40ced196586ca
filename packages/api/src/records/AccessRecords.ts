/** Sessions and service keys as they stand on the wire. */
import { ServiceKey, Session } from "@weft/core"
import { Schema, Struct } from "effect"
import { Instant, JsonValue, SentJson } from "./Wire.ts"

/** Checked by the service, whose messages use the words of the specification. */
const permissions = Schema.Json.annotate({ description: "Permission map, a subset of the calling API key's" })

const metadata = Schema.optionalKey(SentJson.annotate({ description: "Any JSON, at most 64 KiB; encrypted at rest" }))

export const SessionInput = Schema.Struct({
  permissions,
  metadata,
  expires_in: Schema.optionalKey(Schema.Int.annotate({ description: "Seconds, 1 to 86400; default 3600" }))
}).annotate({ identifier: "SessionInput" })

const sessionFields = {
  ...Struct.pick(Session.fields, ["session_id", "permissions"]),
  metadata: JsonValue,
  expires_at: Instant,
  created_at: Instant
}

export const SessionRecord = Schema.Struct(sessionFields).annotate({ identifier: "Session" })

/** The only answer that holds the token. */
export const CreatedSessionRecord = Schema.Struct({ ...sessionFields, token: Schema.String }).annotate({
  identifier: "CreatedSession"
})

export const ServiceKeyInput = Schema.Struct({
  name: Schema.optionalKey(Schema.String.annotate({ description: "At most 128 characters" })),
  description: Schema.optionalKey(Schema.String.annotate({ description: "At most 1024 characters" })),
  permissions,
  metadata,
  expires_in: Schema.optionalKey(
    Schema.NullOr(Schema.Int).annotate({ description: "Seconds, at least 1; null or omitted: it never expires" })
  )
}).annotate({ identifier: "ServiceKeyInput" })

const serviceKeyFields = {
  ...Struct.pick(ServiceKey.fields, ["service_key_id", "name", "description", "permissions"]),
  metadata: JsonValue,
  expires_at: Schema.NullOr(Instant),
  revoked_at: Schema.NullOr(Instant),
  active: Schema.Boolean,
  created_at: Instant
}

export const ServiceKeyRecord = Schema.Struct(serviceKeyFields).annotate({ identifier: "ServiceKey" })

/** The only answer that holds the token. */
export const CreatedServiceKeyRecord = Schema.Struct({ ...serviceKeyFields, token: Schema.String }).annotate({
  identifier: "CreatedServiceKey"
})

/** How many credentials a bulk revocation ended. */
export const RevokedRecord = Schema.Struct({ revoked_count: Schema.Int }).annotate({ identifier: "Revoked" })
