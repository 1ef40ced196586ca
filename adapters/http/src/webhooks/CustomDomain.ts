/** Requests whose host is a custom domain: webhooks without organization and environment in the URL, nothing else. */
import { type DomainRoute, DomainRoutes, NotFound, Webhooks } from "@weft/core"
import { Effect } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { HeldBodies } from "./HeldBodies.ts"
import { answerWebhook } from "./WebhookRoute.ts"
import { parseDomainTarget, webhookPrefix } from "./WebhookTarget.ts"

/** The host that a request is for; null when it says none. */
export const hostOf = (
  headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>,
  trustProxy: boolean
): string | null => {
  const forwarded = trustProxy ? headers["x-forwarded-host"] : undefined
  if (typeof forwarded === "string" && forwarded !== "") return (forwarded.split(",")[0] ?? "").trim()
  return typeof headers.host === "string" ? headers.host : null
}

const noSuchRoute = new NotFound({ resource: "route" })

/** Puts the hosts that are custom domains before the app; requests for others go on to it. */
export const makeCustomDomains = (bodies: HeldBodies, trustProxy: boolean) =>
  Effect.gen(function* () {
    const routes = yield* DomainRoutes
    const host = { webhooks: yield* Webhooks, bodies }

    const answer = (route: DomainRoute, request: HttpServerRequest.HttpServerRequest) => {
      const target = request.url.startsWith(webhookPrefix) ? parseDomainTarget(request.url, route) : null
      return target === null ? Effect.fail(noSuchRoute) : answerWebhook(host, request, target, false)
    }

    /** The route, null for a host that is no custom domain. */
    const routeOf = (request: HttpServerRequest.HttpServerRequest) => {
      const host = hostOf(request.headers, trustProxy) ?? urlHost(request)
      const known = host === null ? null : routes.peek(host)
      if (host === null || known !== undefined) return Effect.succeed(known ?? null)
      return routes.resolve(host).pipe(
        // Whatever is not a webhook has nothing to do with custom domains, and works without knowing them.
        Effect.catchTag("StoreUnavailable", (error) =>
          request.url.startsWith(webhookPrefix) ? Effect.fail(error) : Effect.succeed(null)
        )
      )
    }

    return Effect.fnUntraced(function* <E, R>(app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) {
      const request = yield* HttpServerRequest.HttpServerRequest
      const route = yield* routeOf(request)
      return route === null ? yield* app : yield* answer(route, request)
    })
  })

/** A `Request` made from a URL alone has no header `Host`. */
const urlHost = ({ originalUrl }: HttpServerRequest.HttpServerRequest): string | null =>
  URL.canParse(originalUrl) ? new URL(originalUrl).host : null
