/**
 * The span of a request, by the conventions of OpenTelemetry for HTTP servers, without URL and headers: paths of
 * webhooks, queries and headers hold what is nobody else's business.
 *
 * It begins when its route is known, which is a part of its name, as of the time when the request came.
 */
import { annotate, beginSpan, endSpan, nanosOf, parseTraceparent, tracerOf } from "@weft/core"
import { Context, Effect, type Fiber, type Scope, Tracer } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { CurrentRoute } from "../metrics/CurrentRoute.ts"

type AnyFiber = Fiber.Fiber<unknown, unknown>

const methods: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])

export class RequestSpan {
  readonly #fiber: AnyFiber
  readonly #tracer: Tracer.Tracer
  readonly #method: string
  readonly #parent: Tracer.AnySpan | null
  readonly #startTime: bigint
  #span: Tracer.Span | null = null

  private constructor(fiber: AnyFiber, tracer: Tracer.Tracer, method: string, parent: Tracer.AnySpan | null) {
    this.#fiber = fiber
    this.#tracer = tracer
    this.#method = methods.has(method) ? method : "_OTHER"
    this.#parent = parent
    this.#startTime = nanosOf(fiber)
  }

  /** Null without a tracer. `traceparent` is what the request says, hostile. */
  static open(fiber: AnyFiber, method: string, traceparent: string | undefined): RequestSpan | null {
    const tracer = tracerOf(fiber)
    if (tracer === null) return null
    return new RequestSpan(fiber, tracer, method, traceparent === undefined ? null : parseTraceparent(traceparent))
  }

  /** The span, begun at the latest now; the first route counts. */
  at(route: string | null): Tracer.Span {
    this.#span ??= beginSpan(this.#fiber, this.#tracer, {
      name: [this.#method === "_OTHER" ? "HTTP" : this.#method, ...(route === null ? [] : [route])].join(" "),
      kind: "server",
      attributes: { "http.request.method": this.#method, ...(route === null ? {} : { "http.route": route }) },
      parent: this.#parent,
      startTime: this.#startTime
    })
    return this.#span
  }

  answered(status: number, requestId: string | undefined): void {
    const span = this.at(null)
    annotate(span, {
      "http.response.status_code": status,
      ...(requestId === undefined ? {} : { "weft.request_id": requestId })
    })
    endSpan(this.#fiber, span, status >= 500 ? { fault: String(status) } : "ok")
  }

  /** Nobody was answered. Does nothing where somebody was. */
  breakOff(): void {
    const span = this.at(null)
    if (span.status._tag === "Started") endSpan(this.#fiber, span, "interrupted")
  }
}

/** That of the request which the running fiber answers; null where there is none, or it is the host's own. */
export const CurrentRequestSpan = Context.Reference<RequestSpan | null>("@weft/http/tracing/CurrentRequestSpan", {
  defaultValue: () => null
})

type Http = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

/** Gives each request a span, where there is a tracer; those of a host that has made one have that. */
export const spanned = (http: Http): Http =>
  Effect.withFiber((fiber) => {
    if (tracerOf(fiber) === null || isServerSpan(fiber.cache.span)) return http
    return Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ method, headers }) => {
      const span = RequestSpan.open(fiber, method, headers.traceparent)
      if (span === null) return http
      return Effect.provideService(http, CurrentRequestSpan, span).pipe(
        Effect.tap(({ status, headers: sent }) => Effect.sync(() => span.answered(status, sent["x-request-id"]))),
        Effect.ensuring(Effect.sync(() => span.breakOff()))
      )
    })
  })

/** What answers requests of a route, a pattern such as `/v1/projects/:project_id_or_slug`. */
export const atRoute = <A, E, R>(path: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    fiber.getRef(CurrentRoute).path = path
    const request = fiber.getRef(CurrentRequestSpan)
    if (request !== null) return Effect.provideService(effect, Tracer.ParentSpan, request.at(shown(path)))
    const { span } = fiber.cache
    if (tracerOf(fiber) !== null && isServerSpan(span)) span.attribute("http.route", shown(path))
    return effect
  })

/** `effect` in the span of the request, where that has begun. */
export const inRequestSpan = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(CurrentRequestSpan, (request) =>
    request === null ? effect : Effect.provideService(effect, Tracer.ParentSpan, request.at(null))
  )

const isServerSpan = (span: Tracer.AnySpan | undefined): span is Tracer.Span =>
  span?._tag === "Span" && span.kind === "server" && span.status._tag === "Started"

/** Parameters as everywhere else in what is told of routes. */
const shown = (path: string): string => path.replace(/:(\w+)/g, "{$1}")
