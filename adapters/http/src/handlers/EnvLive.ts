/** Handlers for `EnvApi`: one service call each, no decisions. */
import { WeftApi } from "@weft/api"
import { OrgUsages, Tenants } from "@weft/core"
import { requirePermission } from "@weft/core/internal"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

export const EnvLive = HttpApiBuilder.group(
  WeftApi,
  "env",
  Effect.fnUntraced(function* (handlers) {
    const tenants = yield* Tenants
    const usages = yield* OrgUsages
    return handlers.handleAll({
      get: Effect.fnUntraced(function* () {
        const { env_id } = yield* requirePermission("env", "*", "read")
        const env = yield* tenants.getEnv(env_id)
        const { slug } = yield* tenants.getOrg(env.org_id)
        return { ...env, org_slug: slug }
      }),
      usage: () => usages.get
    })
  })
)
