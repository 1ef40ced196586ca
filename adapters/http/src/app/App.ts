/** The HTTP surface as one effect from request to response. Mounts run it. It never fails. */
import { WeftApi } from "@weft/api"
import type { WeftServices } from "@weft/core"
import { NodeMetrics, type Reading } from "@weft/core/adapter"
import { ConsoleSessions } from "@weft/core/internal"
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
import { BodyMemoryBudget } from "../bodies/BodyMemoryBudget.ts"
import { withBufferedText } from "../bodies/BufferedRequests.ts"
import { openConsoleAssets } from "../console/ConsoleAssets.ts"
import { consolePageRoutes } from "../console/ConsolePageRoutes.ts"
import { withConsoleRequests } from "../console/ConsoleRequests.ts"
import { consoleSessionRoutes } from "../console/ConsoleSessionRoutes.ts"
import { DocsPage } from "../documentation/DocsPage.ts"
import { withPacedPages } from "../documentation/PacedPages.ts"
import { withStaticPages } from "../documentation/StaticPages.ts"
import { withRawUploadPath } from "../files/UploadPath.ts"
import { adminLive } from "../handlers/AdminLive.ts"
import { AlertsLive } from "../handlers/AlertsLive.ts"
import { AuditLive } from "../handlers/AuditLive.ts"
import { buildsLive } from "../handlers/BuildsLive.ts"
import { CallsLive } from "../handlers/CallsLive.ts"
import { CanariesLive } from "../handlers/CanariesLive.ts"
import { ContextLive } from "../handlers/ContextLive.ts"
import { DeadLettersLive } from "../handlers/DeadLettersLive.ts"
import { DeliveriesLive } from "../handlers/DeliveriesLive.ts"
import { DomainsLive } from "../handlers/DomainsLive.ts"
import { EnvLive } from "../handlers/EnvLive.ts"
import { EvalLive } from "../handlers/EvalLive.ts"
import { EventsLive } from "../handlers/EventsLive.ts"
import { FilesLive } from "../handlers/FilesLive.ts"
import { LinksLive } from "../handlers/LinksLive.ts"
import { operationsLive } from "../handlers/OperationsLive.ts"
import { PausesLive } from "../handlers/PausesLive.ts"
import { PreviewsLive } from "../handlers/PreviewsLive.ts"
import { ProjectsLive } from "../handlers/ProjectsLive.ts"
import { RecordingsLive } from "../handlers/RecordingsLive.ts"
import { ReplLive } from "../handlers/ReplLive.ts"
import { RunsLive } from "../handlers/RunsLive.ts"
import { SchedulesLive } from "../handlers/SchedulesLive.ts"
import { ServiceKeysLive } from "../handlers/ServiceKeysLive.ts"
import { SessionsLive } from "../handlers/SessionsLive.ts"
import { statusLive } from "../handlers/StatusLive.ts"
import { streamsLive } from "../handlers/StreamsLive.ts"
import { mcpRouteLive } from "../mcp/McpRoute.ts"
import { HttpMeter, metered } from "../metrics/HttpMeter.ts"
import { openProcessMeter } from "../metrics/ProcessMeter.ts"
import { withCompression } from "../responses/Compression.ts"
import { EnvelopedLive, withErrorEnvelope } from "../responses/ErrorEnvelope.ts"
import { type EventStreams, makeEventStreams } from "../streams/EventStreams.ts"
import { tokenRouteLive } from "../tokens/TokenRoute.ts"
import { withRequestSpan } from "../tracing/RequestSpan.ts"
import { makeCustomDomains } from "../webhooks/CustomDomain.ts"
import { webhookRouteLive } from "../webhooks/WebhookRoute.ts"
import type { HttpSettings } from "./HttpOptions.ts"
import { makeRequestIds } from "./RequestIds.ts"

export interface App {
  readonly http: Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    never,
    HttpServerRequest.HttpServerRequest | Scope.Scope
  >
  /** Counts all requests, on the fast path and in the router. */
  readonly meter: HttpMeter
  /** Shared by all requests, on the fast path and in the router. */
  readonly bodyBudget: BodyMemoryBudget
  /** Returns a request id: ascending UUIDs. */
  readonly nextId: () => string
  /** Ends all current and future subscriptions, which could otherwise last for minutes. */
  readonly endStreams: Effect.Effect<void>
}

/**
 * Paths are compared exactly: `DELETE /v1/sessions/`, a URL whose id is missing, does not match `DELETE /v1/sessions`.
 * The longest parameter is a project's name, percent-encoded.
 */
const routing = { caseSensitive: true, ignoreDuplicateSlashes: false, ignoreTrailingSlash: false, maxParamLength: 2048 }

const makeRoutes = (settings: HttpSettings, metrics: Reading, streams: EventStreams, bodyBudget: BodyMemoryBudget) => {
  const handlers = Layer.mergeAll(
    statusLive(settings, metrics),
    ProjectsLive,
    ContextLive,
    buildsLive(settings, bodyBudget),
    EventsLive,
    FilesLive,
    LinksLive,
    ReplLive,
    RunsLive,
    RecordingsLive,
    DeliveriesLive,
    CanariesLive,
    PreviewsLive,
    DeadLettersLive,
    PausesLive,
    operationsLive(streams),
    AlertsLive,
    CallsLive,
    EvalLive,
    SchedulesLive,
    SessionsLive,
    ServiceKeysLive,
    EnvLive,
    streamsLive(streams),
    DomainsLive,
    AuditLive,
    adminLive(settings, metrics)
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
    Layer.merge(
      Layer.mergeAll(
        webhookRouteLive(bodyBudget, settings.console),
        tokenRouteLive,
        mcpRouteLive(settings, streams),
        DocsPage
      )
    ),
    Layer.merge(settings.console ? consoleRoutes(settings) : Layer.empty),
    Layer.provide(HttpServer.layerServices)
  )
}

const consoleRoutes = (settings: HttpSettings) =>
  Layer.merge(consoleSessionRoutes(settings), consolePageRoutes(openConsoleAssets(), settings.consoleEmbeddedIn))

export const makeApp = (settings: HttpSettings): Effect.Effect<App, never, WeftServices | Scope.Scope> =>
  Effect.gen(function* () {
    const node = yield* NodeMetrics
    const readProcess = yield* openProcessMeter
    const meter = new HttpMeter()
    const bodyBudget = new BodyMemoryBudget(settings.bodyBytes, settings.bufferedBodyBytes)
    const streams = makeEventStreams({ lifetimeMs: settings.streamLifetimeMs, heartbeatMs: settings.heartbeatMs })
    yield* Effect.addFinalizer(() => streams.end)
    const metrics = Effect.map(node.read, (series) => [...series, ...meter.read(), ...readProcess()])
    const routes = yield* HttpRouter.toHttpEffect(makeRoutes(settings, metrics, streams, bodyBudget)).pipe(
      Effect.provideService(HttpRouter.RouterConfig, routing),
      // A separate router, even if a host built from layers already has one.
      Effect.provideService(Layer.CurrentMemoMap, Layer.makeMemoMapUnsafe())
    )
    const nextId = yield* makeRequestIds
    const routeCustomDomains = yield* makeCustomDomains(bodyBudget, settings.trustProxy)
    const consoleSessions = settings.console ? yield* ConsoleSessions : null
    const pages = withPacedPages(withStaticPages(routes))
    const buffered = withBufferedText(withRawUploadPath(pages), bodyBudget)
    const routed = routeCustomDomains(withConsoleRequests(buffered, consoleSessions))
    const http = Effect.provideService(
      withRequestSpan(metered(withCompression(withErrorEnvelope(routed, nextId, settings.trustProxy)), meter)),
      HttpIncomingMessage.MaxBodySize,
      ByteSize.bytes(settings.bodyBytes)
    )
    return { http, meter, bodyBudget, nextId, endStreams: streams.end }
  })
