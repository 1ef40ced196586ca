/** Handlers for `AdminApi`: one service call each, no decisions. */
import { toPageRequest, WeftApi } from "@weft/api"
import { ApiKeys, AuditLog, EnvId, KeyRotation, NotFound, Tenants } from "@weft/core"
import { Effect, Redacted, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { toAuditQuery } from "./AuditLive.ts"
import { listing } from "./Listing.ts"

const isEnvId = Schema.is(EnvId)

/** Fails with `NotFound` for text that is not an id. */
const parseEnvId = (text: string): Effect.Effect<EnvId, NotFound> =>
  isEnvId(text) ? Effect.succeed(text) : Effect.fail(new NotFound({ resource: "environment" }))

export const AdminLive = HttpApiBuilder.group(
  WeftApi,
  "admin",
  Effect.fnUntraced(function* (handlers) {
    const tenants = yield* Tenants
    const apiKeys = yield* ApiKeys
    const keyRotation = yield* KeyRotation
    const audit = yield* AuditLog
    return handlers.handleAll({
      listOrgs: ({ query }) => {
        const page = toPageRequest(query)
        return Effect.map(tenants.listOrgs(page), listing(page))
      },
      createOrg: ({ payload }) => tenants.createOrg(payload),
      updateOrg: ({ params, payload }) => tenants.updateOrg(params.org, payload),
      listEnvs: ({ params, query }) => {
        const page = toPageRequest(query)
        return Effect.map(tenants.listEnvs(params.org, page), listing(page))
      },
      createEnv: ({ params, payload }) => tenants.createEnv(params.org, payload),
      listApiKeys: Effect.fnUntraced(function* ({ params, query }) {
        const page = toPageRequest(query)
        return listing(page)(yield* apiKeys.list(yield* parseEnvId(params.env_id), page))
      }),
      createApiKey: Effect.fnUntraced(function* ({ params, payload }) {
        const { key, token } = yield* apiKeys.create(yield* parseEnvId(params.env_id), payload)
        return { ...key, token: Redacted.value(token) }
      }),
      updateApiKey: Effect.fnUntraced(function* ({ params, payload }) {
        return yield* apiKeys.update(yield* parseEnvId(params.env_id), params.api_key_id, payload)
      }),
      removeApiKey: Effect.fnUntraced(function* ({ params }) {
        return yield* apiKeys.remove(yield* parseEnvId(params.env_id), params.api_key_id)
      }),
      resealSecrets: () => keyRotation.rotateKeys,
      listAudit: ({ query: { env_id, ...query } }) => {
        const page = toPageRequest(query)
        const filter = { ...toAuditQuery(query), ...(env_id === undefined ? {} : { env_id }) }
        return Effect.map(audit.listAll(filter, page), listing(page))
      }
    })
  })
)
