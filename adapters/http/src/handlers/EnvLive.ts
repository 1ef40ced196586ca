/** Handlers for `EnvApi`: one service call each, no decisions. */
import { WeftApi } from "@weft/api"
import { requirePermission, Tenants } from "@weft/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

export const EnvLive = HttpApiBuilder.group(
  WeftApi,
  "env",
  Effect.fnUntraced(function* (handlers) {
    const tenants = yield* Tenants
    return handlers.handleAll({
      get: () => Effect.flatMap(requirePermission("env", "*", "read"), ({ env_id }) => tenants.getEnv(env_id))
    })
  })
)
