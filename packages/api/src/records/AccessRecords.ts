/** Wire format of sessions and service keys. */
import { ServiceKey, Session } from "@weft/core/adapter"
import { Schema } from "effect"
import { example, examplePermissions } from "../openapi/FieldExample.ts"
import { Instant, instant, jsonValue, SentJson } from "./Wire.ts"

/** Any JSON: the service checks it, with the messages of the specification. */
const permissions = Schema.Json.annotate({
  description: "Permission map: a subset of the permissions of the calling API key",
  examples: [examplePermissions]
})

const metadata = example(
  Schema.optionalKey(SentJson.annotate({ description: "Any JSON, at most 64 KiB; encrypted at rest" })),
  { customer: "c-17" }
)

export const SessionInput = Schema.Struct({
  permissions,
  metadata,
  expires_in: Schema.optionalKey(
    Schema.Int.annotate({ description: "Lifetime in seconds, 1 to 86400; 3600 by default", examples: [3600] })
  )
}).annotate({ identifier: "SessionInput" })

const sessionFields = {
  session_id: Session.fields.session_id,
  permissions: example(Session.fields.permissions, Session.fields.permissions.make(examplePermissions)),
  metadata: jsonValue({ customer: "c-17" }),
  expires_at: instant("2026-01-31T13:00:00.000Z"),
  created_at: Instant
}

export const SessionRecord = Schema.Struct(sessionFields).annotate({ identifier: "Session" })

/** The only response with the token. */
export const CreatedSessionRecord = Schema.Struct({
  ...sessionFields,
  token: example(Schema.String, "s_01970d42-5c90-7d8c-915f-80ae9c4d290d_<secret>")
}).annotate({ identifier: "CreatedSession" })

export const ServiceKeyInput = Schema.Struct({
  name: Schema.optionalKey(Schema.String.annotate({ description: "At most 128 characters", examples: ["deployer"] })),
  description: Schema.optionalKey(
    Schema.String.annotate({ description: "At most 1024 characters", examples: ["Deploys from CI"] })
  ),
  permissions,
  metadata,
  expires_in: Schema.optionalKey(
    Schema.NullOr(Schema.Int).annotate({
      description: "Lifetime in seconds, at least 1; without one, the key never expires",
      examples: [null]
    })
  )
}).annotate({ identifier: "ServiceKeyInput" })

const serviceKeyFields = {
  service_key_id: ServiceKey.fields.service_key_id,
  name: example(ServiceKey.fields.name, "deployer"),
  description: example(ServiceKey.fields.description, "Deploys from CI"),
  permissions: example(ServiceKey.fields.permissions, ServiceKey.fields.permissions.make(examplePermissions)),
  metadata: jsonValue({ customer: "c-17" }),
  expires_at: example(Schema.NullOr(Instant), null),
  revoked_at: example(Schema.NullOr(Instant), null),
  active: Schema.Boolean,
  created_at: Instant
}

export const ServiceKeyRecord = Schema.Struct(serviceKeyFields).annotate({ identifier: "ServiceKey" })

/** The only response with the token. */
export const CreatedServiceKeyRecord = Schema.Struct({
  ...serviceKeyFields,
  token: example(Schema.String, "01970d42-6da0-7e9d-826a-91bfad5e3a0e_<secret>")
}).annotate({ identifier: "CreatedServiceKey" })

/** Number of credentials that a bulk revocation revoked. */
export const RevokedRecord = Schema.Struct({ revoked_count: example(Schema.Int, 2) }).annotate({
  identifier: "Revoked"
})
