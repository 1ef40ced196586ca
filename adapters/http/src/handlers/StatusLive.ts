/** Handlers for `StatusApi`: what the server says of itself. */

import { currentRequestId, WeftApi } from "@weft/api"
import { type AnySeries, firstPage, type Reading, StoreUnavailable, Tenants, Unauthorized } from "@weft/core"
import { Clock, Effect, Redacted } from "effect"
import { Digest } from "effect/crypto"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder, OpenApi } from "effect/http-api"
import { bearerToken } from "../access/BearerToken.ts"
import { hostToken } from "../access/HostToken.ts"
import { toResponse } from "../answers/Answer.ts"
import { busyAnswer } from "../answers/Failure.ts"
import type { HttpSettings } from "../app/HttpOptions.ts"
import { prometheusText } from "../metrics/Prometheus.ts"

export const statusLive = (settings: HttpSettings, metrics: Reading) =>
  HttpApiBuilder.group(
    WeftApi,
    "status",
    Effect.fnUntraced(function* (handlers) {
      const { version, gitSha } = settings
      const tenants = yield* Tenants
      const admit = yield* makeAdmit(settings)
      const start_time = new Date(yield* Clock.currentTimeMillis).toISOString()
      const document = yield* Effect.cached(Effect.sync(() => HttpServerResponse.jsonUnsafe(OpenApi.fromApi(WeftApi))))
      const text = Effect.map(metrics, (series) => prometheusText([buildInfo(version, gitSha), ...series]))
      const ready = Effect.timeoutOrElse(tenants.listOrgs({ ...firstPage, limit: 1 }), {
        duration: readyWithin,
        orElse: () => Effect.fail(new StoreUnavailable({ operation: "readyz", cause: "No answer in time" }))
      })
      return handlers.handleAll({
        get: () => Effect.succeed({ status: "ok", service: "weft", version, git_sha: gitSha, start_time }),
        openapi: () => document,
        metrics: () => Effect.andThen(admit, text),
        healthz: () => Effect.as(admit, { status: "ok" as const }),
        readyz: () =>
          Effect.andThen(
            admit,
            Effect.catchTag(Effect.as(ready, { status: "ok" as const }), "StoreUnavailable", notReady)
          )
      })
    })
  )

/** Who asks has little time: a store that takes longer is as good as none. */
const readyWithin = "2 seconds"

const notReady = (error: StoreUnavailable) =>
  Effect.as(Effect.logWarning("not ready", error), toResponse(busyAnswer(currentRequestId())))

const buildInfo = (version: string, git_sha: string): AnySeries => ({
  type: "gauge",
  name: "weft_build_info",
  help: "What runs here",
  labels: { version, git_sha },
  value: 1
})

/** Lets the bearer of the host's token pass; everybody, where the host set none. */
const makeAdmit = Effect.fnUntraced(function* ({ metricsToken }: HttpSettings) {
  if (metricsToken === null) return Effect.void
  const check = yield* Effect.provide(hostToken(metricsToken), Digest.layerWebCrypto)
  return Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) => {
    const token = bearerToken(headers.authorization)
    return token === null ? Effect.fail(new Unauthorized({})) : check(Redacted.make(token))
  })
})
