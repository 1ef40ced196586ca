/** Weft's routes on the `HttpRouter` of a host that is built with Effect. */
import type { WeftServices } from "@weft/core"
import { Effect, type Layer } from "effect"
import { HttpRouter } from "effect/http"
import { makeApp } from "../app/App.ts"
import { type HttpOptions, resolveSettings } from "../app/HttpOptions.ts"
import { weftPaths } from "./WeftPaths.ts"

/** Adds Weft's paths. The host's own routes, middleware and 404 stay unchanged. */
export const layer = (options: HttpOptions = {}): Layer.Layer<never, never, HttpRouter.HttpRouter | WeftServices> =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const { http } = yield* makeApp(resolveSettings(options))
      const { prefixes, exact } = weftPaths(options)
      for (const path of prefixes) yield* router.add("*", `${path}/*`, http)
      for (const path of exact) yield* router.add("*", path, http)
    })
  )
