/** Handlers for `EnvApi`: one service call each, no decisions. */
import { WeftApi } from "@weft/api"
import { OrgUsages, requirePermission, Tenants } from "@weft/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

export const EnvLive = HttpApiBuilder.group(
  WeftApi,
  "env",
  Effect.fnUntraced(function* (handlers) {
    const tenants = yield* Tenants
    const usages = yield* OrgUsages
    return handlers.handleAll({
      get: () => Effect.flatMap(requirePermission("env", "*", "read"), ({ env_id }) => tenants.getEnv(env_id)),
      usage: () => usages.get
    })
  })
)
