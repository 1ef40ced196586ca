/** Handlers for `StatusApi`: status, metrics, health checks and the OpenAPI document. */
import { currentRequestId, WeftApi } from "@weft/api"
import { firstPage, StoreUnavailable, Tenants, Unauthorized } from "@weft/core"
import type { AnySeries, Reading } from "@weft/core/adapter"
import { Clock, Effect, Redacted } from "effect"
import { Digest } from "effect/crypto"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder, OpenApi } from "effect/http-api"
import { bearerToken } from "../access/BearerToken.ts"
import { makeTokenCheck } from "../access/HostToken.ts"
import type { HttpSettings } from "../app/HttpOptions.ts"
import { prometheusText } from "../metrics/Prometheus.ts"
import { busyResponse } from "../responses/Failure.ts"
import { toResponse } from "../responses/PlainResponse.ts"

export const statusLive = (settings: HttpSettings, metrics: Reading) =>
  HttpApiBuilder.group(
    WeftApi,
    "status",
    Effect.fnUntraced(function* (handlers) {
      const { version, gitSha, metricsMs } = settings
      const tenants = yield* Tenants
      const authorize = yield* makeAuthorize(settings)
      const start_time = new Date(yield* Clock.currentTimeMillis).toISOString()
      const document = yield* Effect.cached(Effect.sync(openApiResponse))
      const text = yield* Effect.cachedWithTTL(
        Effect.map(metrics, (series) => prometheusText([buildInfo(version, gitSha), ...series])),
        metricsMs
      )
      const ready = Effect.timeoutOrElse(tenants.listOrgs({ ...firstPage, limit: 1 }), {
        duration: readinessTimeout,
        orElse: () => Effect.fail(new StoreUnavailable({ operation: "readyz", cause: "No answer in time" }))
      })
      return handlers.handleAll({
        get: () => Effect.succeed({ status: "ok", service: "weft", version, git_sha: gitSha, start_time }),
        openapi: () => document,
        metrics: () => Effect.andThen(authorize, text),
        healthz: () => Effect.as(authorize, { status: "ok" as const }),
        readyz: () =>
          Effect.andThen(
            authorize,
            Effect.catchTag(Effect.as(ready, { status: "ok" as const }), "StoreUnavailable", notReady)
          )
      })
    })
  )

/** Bytes, so that no response encodes the whole document. */
const openApiResponse = () =>
  HttpServerResponse.uint8Array(new TextEncoder().encode(JSON.stringify(OpenApi.fromApi(WeftApi))), {
    contentType: "application/json"
  })

/** Maximum time of the store's response. Callers of `/readyz` have short timeouts themselves. */
const readinessTimeout = "2 seconds"

const notReady = (error: StoreUnavailable) =>
  Effect.as(Effect.logWarning("not ready", error), toResponse(busyResponse(currentRequestId())))

const buildInfo = (version: string, git_sha: string): AnySeries => ({
  type: "gauge",
  name: "weft_build_info",
  help: "Version and commit of the server",
  labels: { version, git_sha },
  value: 1
})

/** Returns a check of the host's metrics token. Without a configured token, everybody passes. */
const makeAuthorize = Effect.fnUntraced(function* ({ metricsToken }: HttpSettings) {
  if (metricsToken === null) return Effect.void
  const check = yield* Effect.provide(makeTokenCheck(metricsToken), Digest.layerWebCrypto)
  return Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) => {
    const token = bearerToken(headers.authorization)
    return token === null ? Effect.fail(new Unauthorized({})) : check(Redacted.make(token))
  })
})
