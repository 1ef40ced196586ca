/**
 * The span of a request, by OpenTelemetry's conventions for HTTP servers. It has no URL and no headers, because webhook
 * paths, queries and headers contain tenants' confidential data.
 *
 * The span begins when the route is known, because the route is part of its name. Its start time is that of the request.
 */
import { annotate, beginSpan, endSpan, nanosOf, parseTraceparent, tracerOf } from "@weft/core/internal"
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

  /** Returns null without a tracer. `traceparent` is untrusted input. */
  static open(fiber: AnyFiber, method: string, traceparent: string | undefined): RequestSpan | null {
    const tracer = tracerOf(fiber)
    if (tracer === null) return null
    return new RequestSpan(fiber, tracer, method, traceparent === undefined ? null : parseTraceparent(traceparent))
  }

  /** Returns the span, and begins it with this route if it has not begun. */
  begin(route: string | null): Tracer.Span {
    this.#span ??= beginSpan(this.#fiber, this.#tracer, {
      name: [this.#method === "_OTHER" ? "HTTP" : this.#method, ...(route === null ? [] : [route])].join(" "),
      kind: "server",
      attributes: { "http.request.method": this.#method, ...(route === null ? {} : { "http.route": route }) },
      parent: this.#parent,
      startTime: this.#startTime
    })
    return this.#span
  }

  end(status: number, requestId: string | undefined): void {
    const span = this.begin(null)
    annotate(span, {
      "http.response.status_code": status,
      ...(requestId === undefined ? {} : { "weft.request_id": requestId })
    })
    endSpan(this.#fiber, span, status >= 500 ? { fault: String(status) } : "ok")
  }

  /** Ends the span of a request without a response. Does nothing after `end`. */
  endInterrupted(): void {
    const span = this.begin(null)
    if (span.status._tag === "Started") endSpan(this.#fiber, span, "interrupted")
  }
}

/** The span of the current request. Null without a span, or if the host made the span. */
const CurrentRequestSpan = Context.Reference<RequestSpan | null>("@weft/http/tracing/CurrentRequestSpan", {
  defaultValue: () => null
})

type Http = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

/** Creates a span for each request if there is a tracer. Requests that already have a span of the host keep it. */
export const withRequestSpan = (http: Http): Http =>
  Effect.withFiber((fiber) => {
    if (tracerOf(fiber) === null || isServerSpan(fiber.cache.span)) return http
    return Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ method, headers }) => {
      const span = RequestSpan.open(fiber, method, headers.traceparent)
      if (span === null) return http
      return Effect.provideService(http, CurrentRequestSpan, span).pipe(
        Effect.tap(({ status, headers: sent }) => Effect.sync(() => span.end(status, sent["x-request-id"]))),
        Effect.ensuring(Effect.sync(() => span.endInterrupted()))
      )
    })
  })

/** Runs the handler of a route, given as a pattern such as `/v1/projects/:project_id_or_slug`. */
export const withRoute = <A, E, R>(path: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    fiber.getRef(CurrentRoute).path = path
    const request = fiber.getRef(CurrentRequestSpan)
    if (request !== null) return Effect.provideService(effect, Tracer.ParentSpan, request.begin(toDisplayPath(path)))
    const { span } = fiber.cache
    if (tracerOf(fiber) !== null && isServerSpan(span)) span.attribute("http.route", toDisplayPath(path))
    return effect
  })

/** Runs `effect` in the span of the request, if there is one. */
export const inRequestSpan = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(CurrentRequestSpan, (request) =>
    request === null ? effect : Effect.provideService(effect, Tracer.ParentSpan, request.begin(null))
  )

const isServerSpan = (span: Tracer.AnySpan | undefined): span is Tracer.Span =>
  span?._tag === "Span" && span.kind === "server" && span.status._tag === "Started"

/** Formats parameters as `{name}`, as in metrics and documentation. */
const toDisplayPath = (path: string): string => path.replace(/:(\w+)/g, "{$1}")
