/** Requests to custom domains. They reach webhooks, whose URLs contain no organization and environment, and tokens. */
import { DomainRoutes, Webhooks } from "@weft/core"
import { Effect } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { BodyMemoryBudget } from "../bodies/BodyMemoryBudget.ts"
import { isTokenPath } from "../tokens/TokenRoute.ts"
import { findCachedRoute, isWebhookPath, requestedHost } from "./WebhookDecision.ts"
import { handleWebhook } from "./WebhookRoute.ts"

/** Wraps the app: handles requests to custom domains, and passes all others to the app. */
export const makeCustomDomains = (bodyBudget: BodyMemoryBudget, trustProxy: boolean) =>
  Effect.gen(function* () {
    const routes = yield* DomainRoutes
    const host = { webhooks: yield* Webhooks, bodyBudget, isByConsole: false }

    /** Finds the route of a custom domain. Null for other hosts. */
    const findRoute = (request: HttpServerRequest.HttpServerRequest) => {
      const host = requestedHost(request.headers, trustProxy) ?? urlHost(request)
      const known = findCachedRoute(routes, host)
      if (host === null || known !== undefined) return Effect.succeed(known ?? null)
      return routes.resolve(host).pipe(
        // Other paths do not depend on custom domains, so they work during a store outage.
        Effect.catchTag("StoreUnavailable", (error) =>
          isWebhookPath(request.url) ? Effect.fail(error) : Effect.succeed(null)
        )
      )
    }

    return Effect.fnUntraced(function* <E, R>(app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) {
      const request = yield* HttpServerRequest.HttpServerRequest
      // The secret names the environment.
      if (isTokenPath(request.url)) return yield* app
      const route = yield* findRoute(request)
      return route === null ? yield* app : yield* handleWebhook(host, request, route)
    })
  })

/** Returns the host of the URL. A `Request` constructed from a URL alone has no header `Host`. */
const urlHost = ({ originalUrl }: HttpServerRequest.HttpServerRequest): string | null =>
  URL.canParse(originalUrl) ? new URL(originalUrl).host : null
