/** Handlers for `StatusApi`: what the server says of itself. */

import { WeftApi } from "@weft/api"
import { firstPage, Tenants } from "@weft/core"
import { Clock, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder, OpenApi } from "effect/http-api"
import type { HttpSettings } from "../app/HttpOptions.ts"

export const statusLive = ({ version, gitSha }: HttpSettings) =>
  HttpApiBuilder.group(
    WeftApi,
    "status",
    Effect.fnUntraced(function* (handlers) {
      const tenants = yield* Tenants
      const start_time = new Date(yield* Clock.currentTimeMillis).toISOString()
      const document = yield* Effect.cached(Effect.sync(() => HttpServerResponse.jsonUnsafe(OpenApi.fromApi(WeftApi))))
      return handlers.handleAll({
        get: () => Effect.succeed({ status: "ok", service: "weft", version, git_sha: gitSha, start_time }),
        openapi: () => document,
        healthz: () => Effect.succeed({ status: "ok" as const }),
        readyz: () => Effect.as(tenants.listOrgs({ ...firstPage, limit: 1 }), { status: "ok" as const })
      })
    })
  )
