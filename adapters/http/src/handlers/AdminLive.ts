/** Handlers for `AdminApi`: one service call each, no decisions. */
import { toPageRequest, WeftApi } from "@weft/api"
import { ApiKeys, AuditLog, KeyRotation, Tenants } from "@weft/core"
import type { Reading } from "@weft/core/adapter"
import { Effect, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { HttpSettings } from "../app/HttpOptions.ts"
import { toAuditQuery } from "./AuditLive.ts"
import { listing } from "./Listing.ts"
import { makeOperatorHandlers, parseEnvId } from "./OperatorHandlers.ts"

export const adminLive = (settings: HttpSettings, metrics: Reading) =>
  HttpApiBuilder.group(
    WeftApi,
    "admin",
    Effect.fnUntraced(function* (handlers) {
      const operator = yield* makeOperatorHandlers(settings, metrics)
      const tenants = yield* Tenants
      const apiKeys = yield* ApiKeys
      const keyRotation = yield* KeyRotation
      const audit = yield* AuditLog
      return handlers.handleAll({
        ...operator,
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
