/** Counts and durations of requests by method, route and status. Plain fields, about 100 ns per request. */
import { type AnySeries, Distribution } from "@weft/core/adapter"
import { Effect, type Scope } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { CurrentRoute, type MatchedRoute } from "./CurrentRoute.ts"

/** Histogram bounds in seconds, from cached responses to long-running functions. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30]

/** Other methods share one label value, because clients can invent any number of them. */
const methods: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])

const otherMethod = "other"
const unmatchedRoute = "none"

/** The requests of one method and route. */
export class RouteMeter {
  readonly #labels: Readonly<Record<string, string>>
  readonly #statuses = new Map<number, number>()
  readonly #seconds = new Distribution(bounds)

  constructor(method: string, route: string) {
    this.#labels = { method, route }
  }

  record(status: number, seconds: number): void {
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1)
    this.#seconds.add(seconds)
  }

  read(): ReadonlyArray<AnySeries> {
    const answers = [...this.#statuses].map(
      ([status, value]): AnySeries => ({
        type: "counter",
        name: "weft_http_requests_total",
        help: "Completed requests",
        labels: { ...this.#labels, status: String(status) },
        value
      })
    )
    const duration = "weft_http_request_duration_seconds"
    return [...answers, this.#seconds.series(duration, "Time from a request to its response", this.#labels)]
  }
}

export class HttpMeter {
  readonly #routes = new Map<string, RouteMeter>()

  /** Returns the meter of a route pattern. `route` is null for requests that matched no route. */
  route(method: string, route: string | null): RouteMeter {
    const key = `${method} ${route}`
    const existing = this.#routes.get(key)
    if (existing !== undefined) return existing
    if (!methods.has(method) && method !== otherMethod) return this.route(otherMethod, route)
    const meter = new RouteMeter(method, route === null ? unmatchedRoute : route.replace(/:(\w+)/g, "{$1}"))
    this.#routes.set(key, meter)
    return meter
  }

  read(): ReadonlyArray<AnySeries> {
    return [...this.#routes.values()].flatMap((route) => route.read())
  }
}

type Http = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

/** The request header that asks for a header `Server-Timing`. */
const timingHeader = "x-server-timing"

/**
 * Counts the responses of `http`. Interrupted requests have none. A client that asks for it gets the time until the
 * response, in milliseconds.
 */
export const metered = (http: Http, meter: HttpMeter): Http =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers, method }) => {
    const startedAt = performance.now()
    const matched: MatchedRoute = { path: null }
    return Effect.map(Effect.provideService(http, CurrentRoute, matched), (response) => {
      const ms = performance.now() - startedAt
      meter.route(method, matched.path).record(response.status, ms / 1000)
      return headers[timingHeader] === undefined
        ? response
        : HttpServerResponse.setHeader(response, "server-timing", `total;dur=${ms.toFixed(1)}`)
    })
  })
