/**
 * `/console/session`: sign-in, renewal and sign-out of the console. The page never reads the cookie, which contains the
 * session.
 */
import { meta } from "@weft/api"
import { BadRequest, EnvId, Tenants, Unauthorized } from "@weft/core"
import { CurrentOrigin } from "@weft/core/adapter"
import { ConsoleSessions } from "@weft/core/internal"
import { Effect, Redacted, Schema } from "effect"
import { Digest } from "effect/crypto"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { clientAddress } from "../access/ClientAddress.ts"
import { makeTokenCheck } from "../access/HostToken.ts"
import type { HttpSettings } from "../app/HttpOptions.ts"
import { withRoute } from "../tracing/RequestSpan.ts"
import { cookieHeader, readTicket } from "./ConsoleCookie.ts"
import { consolePrefix } from "./ConsolePath.ts"
import { requireOwnPage } from "./ConsoleRequests.ts"
import { makeSignInRates } from "./SignInRates.ts"

type ServerRequest = HttpServerRequest.HttpServerRequest

const route = `${consolePrefix}/session`

const SignIn = Schema.Struct({ token: Schema.String, env_id: Schema.optionalKey(EnvId) })

const parseSignIn = (text: string) =>
  Effect.catchTag(Schema.decodeUnknownEffect(Schema.fromJsonString(SignIn))(text), "SchemaError", () =>
    Effect.fail(new BadRequest({ reason: "The body must be a JSON object with the text `token`" }))
  )

const bodyLengthMax = 4096

/** Maximum environments that an operator may choose from. */
const environmentsMax = 1000

const respond = (data: Schema.Json, status: number, cookie?: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(JSON.stringify({ data, meta: meta() }), {
    status,
    contentType: "application/json",
    headers: { "cache-control": "no-store", ...(cookie === undefined ? {} : { "set-cookie": cookie }) }
  })

const toTime = (instant: number): string => new Date(instant).toISOString()

const agentOf = ({ headers }: ServerRequest): string | null => headers["user-agent"] ?? null

const requireTicket = (request: ServerRequest): Effect.Effect<string, BadRequest | Unauthorized> =>
  Effect.flatMap(requireOwnPage(request), () => {
    const ticket = readTicket(request)
    return ticket === null ? Effect.fail(new Unauthorized({})) : Effect.succeed(ticket)
  })

export const consoleSessionRoutes = (settings: HttpSettings) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const { trustProxy } = settings
      const sessions = yield* ConsoleSessions
      const signIn = yield* makeSignIn(settings, sessions)
      const answer = ({ ticket, expiresAt, signedInAt }: Ticket, status: number) =>
        Effect.map(
          cookieHeader({ value: Redacted.value(ticket), maxAgeSeconds: cookieSeconds, trustProxy }),
          (cookie) => respond({ signed_in_at: toTime(signedInAt), expires_at: toTime(expiresAt) }, status, cookie)
        )
      yield* router.add("POST", route, (request) =>
        withRoute(
          route,
          Effect.flatMap(signIn(request), (found) =>
            "environments" in found ? Effect.succeed(respond(found, 200)) : answer(found, 201)
          )
        )
      )
      yield* router.add("GET", route, (request) =>
        withRoute(
          route,
          Effect.map(Effect.flatMap(requireTicket(request), sessions.open), ({ identity, signedInAt, sessionId }) =>
            respond(
              {
                session_id: sessionId,
                api_key_id: identity.id,
                permissions: identity.permissions,
                signed_in_at: toTime(signedInAt)
              },
              200
            )
          )
        )
      )
      yield* router.add("PUT", route, (request) =>
        withRoute(
          route,
          Effect.flatMap(requireTicket(request), (ticket) =>
            Effect.flatMap(sessions.renew(ticket, agentOf(request)), (renewed) => answer(renewed, 200))
          )
        )
      )
      yield* router.add("DELETE", route, (request) =>
        withRoute(
          route,
          Effect.gen(function* () {
            const ticket = yield* requireTicket(request)
            yield* Effect.catchTag(sessions.end(ticket), "Unauthorized", () => Effect.void)
            const cookie = yield* cookieHeader({ value: "", maxAgeSeconds: 0, trustProxy })
            return HttpServerResponse.empty({ status: 204, headers: { "set-cookie": cookie } })
          })
        )
      )
    })
  )

/** The browser may keep the cookie as long as sessions can be renewed. The server decides when it ends. */
const cookieSeconds = 12 * 3600

type Ticket = Effect.Success<ReturnType<ConsoleSessions["Service"]["signIn"]>>

type Choice = {
  readonly environments: ReadonlyArray<{ readonly env_id: string; readonly name: string; readonly org_slug: string }>
}

/** Returns the sign-in by API key, or by admin token: without an environment it returns those to choose from. */
const makeSignIn = Effect.fnUntraced(function* (settings: HttpSettings, sessions: ConsoleSessions["Service"]) {
  const tenants = yield* Tenants
  const rates = makeSignInRates()
  const { adminToken, trustProxy } = settings
  const checkAdmin =
    adminToken === null ? null : yield* Effect.provide(makeTokenCheck(adminToken), Digest.layerWebCrypto)
  const isAdmin = (token: string) =>
    checkAdmin === null
      ? Effect.succeed(false)
      : Effect.match(checkAdmin(Redacted.make(token)), { onFailure: () => false, onSuccess: () => true })
  const asAdmin = Effect.updateService(CurrentOrigin, (origin) => ({ ...origin, isAdmin: true }))

  const listEnvironments = Effect.gen(function* () {
    const { items } = yield* tenants.listOrgs({ limit: environmentsMax, offset: 0 })
    const found = yield* Effect.forEach(items, ({ org_id, slug }) =>
      Effect.map(tenants.listEnvs(org_id, { limit: environmentsMax, offset: 0 }), (envs) =>
        envs.items.map(({ env_id, name }) => ({ env_id, name, org_slug: slug }))
      )
    )
    return { environments: found.flat().slice(0, environmentsMax) }
  })

  return Effect.fnUntraced(function* (request: ServerRequest) {
    yield* requireOwnPage(request)
    yield* rates(clientAddress(request, trustProxy))
    const text = yield* request.text
    if (text.length > bodyLengthMax) return yield* new BadRequest({ reason: "The body is too large" })
    const { token, env_id } = yield* parseSignIn(text)
    if (!(yield* isAdmin(token))) return yield* sessions.signIn(Redacted.make(token), agentOf(request))
    const result: Effect.Effect<Ticket | Choice, Effect.Error<ReturnType<typeof sessions.signInHost>>> = env_id ===
    undefined
      ? listEnvironments
      : Effect.andThen(tenants.getEnv(env_id), sessions.signInHost(env_id, agentOf(request)))
    return yield* asAdmin(result)
  })
})
