/** Weft's routes on the `HttpRouter` of a host that is built with Effect. */
import type { WeftServices } from "@weft/core"
import { Effect, type Layer } from "effect"
import { HttpRouter } from "effect/http"
import { makeApp } from "../app/App.ts"
import { type HttpOptions, settingsOf } from "../app/HttpOptions.ts"
import { weftPaths } from "./WeftPaths.ts"

/** The host's own routes, its middleware and its 404 stay as they are: only these paths are Weft's. */
export const layer = (options: HttpOptions = {}): Layer.Layer<never, never, HttpRouter.HttpRouter | WeftServices> =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const { http } = yield* makeApp(settingsOf(options))
      const { trees, leaves } = weftPaths(options)
      for (const path of trees) yield* router.add("*", `${path}/*`, http)
      for (const path of leaves) yield* router.add("*", path, http)
    })
  )
