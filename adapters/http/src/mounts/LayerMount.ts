/** Weft's routes on the `HttpRouter` of a host that is built with Effect. */
import type { WeftServices } from "@weft/core"
import { Effect, type Layer } from "effect"
import { HttpRouter } from "effect/http"
import { makeApp } from "../app/App.ts"
import { type HttpOptions, settingsOf } from "../app/HttpOptions.ts"

/** The host's own routes, its middleware and its 404 stay as they are: only these paths are Weft's. */
export const layer = (options: HttpOptions = {}): Layer.Layer<never, never, HttpRouter.HttpRouter | WeftServices> =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const { http } = yield* makeApp(settingsOf(options))
      yield* router.add("*", "/v1/*", http)
      yield* router.add("*", "/webhook/*", http)
      yield* router.add("*", "/admin/*", http)
      yield* router.add("*", "/docs", http)
      yield* router.add("*", "/healthz", http)
      yield* router.add("*", "/readyz", http)
    })
  )
