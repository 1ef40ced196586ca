/** The HTTP surface as one effect from request to response. Mounts run it; it never fails. */
import { WeftApi } from "@weft/api"
import { NodeMetrics, type Reading, type WeftServices } from "@weft/core"
import { ByteSize, Effect, Layer, type Scope } from "effect"
import { Digest } from "effect/crypto"
import {
  HttpIncomingMessage,
  HttpRouter,
  HttpServer,
  type HttpServerRequest,
  type HttpServerResponse
} from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { adminAuthenticatedLive } from "../access/AdminAuthenticatedLive.ts"
import { AuthenticatedLive } from "../access/AuthenticatedLive.ts"
import { PermittedLive } from "../access/PermittedLive.ts"
import { EnvelopedLive, enveloped } from "../answers/Enveloping.ts"
import { DocsPage } from "../documentation/DocsPage.ts"
import { withSentUploadPath } from "../files/UploadPath.ts"
import { AdminLive } from "../handlers/AdminLive.ts"
import { AuditLive } from "../handlers/AuditLive.ts"
import { buildsLive } from "../handlers/BuildsLive.ts"
import { CallsLive } from "../handlers/CallsLive.ts"
import { ContextLive } from "../handlers/ContextLive.ts"
import { DomainsLive } from "../handlers/DomainsLive.ts"
import { EnvLive } from "../handlers/EnvLive.ts"
import { EventsLive } from "../handlers/EventsLive.ts"
import { FilesLive } from "../handlers/FilesLive.ts"
import { LinksLive } from "../handlers/LinksLive.ts"
import { ProjectsLive } from "../handlers/ProjectsLive.ts"
import { RunsLive } from "../handlers/RunsLive.ts"
import { SchedulesLive } from "../handlers/SchedulesLive.ts"
import { ServiceKeysLive } from "../handlers/ServiceKeysLive.ts"
import { SessionsLive } from "../handlers/SessionsLive.ts"
import { statusLive } from "../handlers/StatusLive.ts"
import { streamsLive } from "../handlers/StreamsLive.ts"
import { mcpRouteLive } from "../mcp/McpRoute.ts"
import { HttpMeter, metered } from "../metrics/HttpMeter.ts"
import { openProcessMeter } from "../metrics/ProcessMeter.ts"
import { type EventStreams, makeEventStreams } from "../streams/EventStreams.ts"
import { spanned } from "../tracing/RequestSpan.ts"
import { makeCustomDomains } from "../webhooks/CustomDomain.ts"
import { HeldBodies } from "../webhooks/HeldBodies.ts"
import { webhookRouteLive } from "../webhooks/WebhookRoute.ts"
import type { HttpSettings } from "./HttpOptions.ts"
import { makeRequestIds } from "./RequestIds.ts"

export interface App {
  readonly http: Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    never,
    HttpServerRequest.HttpServerRequest | Scope.Scope
  >
  /** Of all requests, however they come. */
  readonly meter: HttpMeter
  /** Of all webhooks, however they come. */
  readonly bodies: HeldBodies
  /** Ids of requests: UUIDs, ascending. */
  readonly nextId: () => string
  /** Ends all subscriptions, and those to come: they would go on for minutes. */
  readonly endStreams: Effect.Effect<void>
}

/**
 * Paths are compared as they are written: `DELETE /v1/sessions/`, the end of a URL whose id is missing, is not
 * `DELETE /v1/sessions`. The longest parameter is a project's name, percent-encoded.
 */
const routing = { caseSensitive: true, ignoreDuplicateSlashes: false, ignoreTrailingSlash: false, maxParamLength: 2048 }

const routesOf = (settings: HttpSettings, metrics: Reading, streams: EventStreams, bodies: HeldBodies) => {
  const handlers = Layer.mergeAll(
    statusLive(settings, metrics),
    ProjectsLive,
    ContextLive,
    buildsLive(settings),
    EventsLive,
    FilesLive,
    LinksLive,
    RunsLive,
    CallsLive,
    SchedulesLive,
    SessionsLive,
    ServiceKeysLive,
    EnvLive,
    streamsLive(streams),
    DomainsLive,
    AuditLive,
    AdminLive
  )
  const middlewares = Layer.mergeAll(
    AuthenticatedLive,
    PermittedLive,
    EnvelopedLive,
    Layer.provide(adminAuthenticatedLive(settings.adminToken), Digest.layerWebCrypto)
  )
  return HttpApiBuilder.layer(WeftApi).pipe(
    Layer.provide(handlers),
    Layer.provide(middlewares),
    Layer.merge(Layer.mergeAll(webhookRouteLive(bodies), mcpRouteLive(settings.version), DocsPage)),
    Layer.provide(HttpServer.layerServices)
  )
}

export const makeApp = (settings: HttpSettings): Effect.Effect<App, never, WeftServices | Scope.Scope> =>
  Effect.gen(function* () {
    const node = yield* NodeMetrics
    const ofProcess = yield* openProcessMeter
    const meter = new HttpMeter()
    const bodies = new HeldBodies(settings.bodyBytes, settings.heldBodyBytes)
    const streams = makeEventStreams({ lifeMs: settings.streamMs, heartbeatMs: settings.heartbeatMs })
    yield* Effect.addFinalizer(() => streams.end)
    const metrics = Effect.map(node.read, (series) => [...series, ...meter.read(), ...ofProcess()])
    const routed = yield* HttpRouter.toHttpEffect(routesOf(settings, metrics, streams, bodies)).pipe(
      Effect.provideService(HttpRouter.RouterConfig, routing),
      // A router of its own, also where a host that is made of layers has one already.
      Effect.provideService(Layer.CurrentMemoMap, Layer.makeMemoMapUnsafe())
    )
    const nextId = yield* makeRequestIds
    const onCustomDomains = yield* makeCustomDomains(bodies, settings.trustProxy)
    const http = Effect.provideService(
      spanned(metered(enveloped(onCustomDomains(withSentUploadPath(routed)), nextId, settings.trustProxy), meter)),
      HttpIncomingMessage.MaxBodySize,
      ByteSize.bytes(settings.bodyBytes)
    )
    return { http, meter, bodies, nextId, endStreams: streams.end }
  })
