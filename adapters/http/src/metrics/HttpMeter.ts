/** Requests by method, route and status, and how long they took. Counted in plain fields, some 100 ns a request. */
import { type AnySeries, Distribution } from "@weft/core"
import { Effect, type Scope } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { CurrentRoute, type RouteNote } from "./CurrentRoute.ts"

/** Seconds: from what memory answers to what a function may take. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30]

/** Other methods are counted as one: a client may make up any number of them. */
const methods: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])

const otherMethod = "other"
const noRoute = "none"

/** The requests of one method and route. */
export class RouteMeter {
  readonly #labels: Readonly<Record<string, string>>
  readonly #statuses = new Map<number, number>()
  readonly #seconds = new Distribution(bounds)

  constructor(method: string, route: string) {
    this.#labels = { method, route }
  }

  answered(status: number, seconds: number): void {
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1)
    this.#seconds.add(seconds)
  }

  read(): ReadonlyArray<AnySeries> {
    const answers = [...this.#statuses].map(
      ([status, value]): AnySeries => ({
        type: "counter",
        name: "weft_http_requests_total",
        help: "Requests that were answered",
        labels: { ...this.#labels, status: String(status) },
        value
      })
    )
    const duration = "weft_http_request_duration_seconds"
    return [...answers, this.#seconds.series(duration, "From a request to its answer", this.#labels)]
  }
}

export class HttpMeter {
  readonly #routes = new Map<string, RouteMeter>()

  /** `route` is one of the patterns of this server, or null for what none of them took. */
  of(method: string, route: string | null): RouteMeter {
    const key = `${method} ${route}`
    const known = this.#routes.get(key)
    if (known !== undefined) return known
    if (!methods.has(method) && method !== otherMethod) return this.of(otherMethod, route)
    const meter = new RouteMeter(method, route === null ? noRoute : route.replace(/:(\w+)/g, "{$1}"))
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

/** Counts what `http` answers. What is interrupted has no answer. */
export const metered = (http: Http, meter: HttpMeter): Http =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ method }) => {
    const began = performance.now()
    const note: RouteNote = { path: null }
    return Effect.map(Effect.provideService(http, CurrentRoute, note), (response) => {
      meter.of(method, note.path).answered(response.status, (performance.now() - began) / 1000)
      return response
    })
  })
