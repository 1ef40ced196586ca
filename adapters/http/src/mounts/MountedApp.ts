/** The app on a running Weft, with its shutdown. All mounts except `layer` use it. */
import type { WeftServices } from "@weft/core"
import { DomainRoutes, Webhooks } from "@weft/core"
import { Context, Effect, Exit, type ManagedRuntime, References, Scope } from "effect"
import { type App, makeApp } from "../app/App.ts"
import { type HttpOptions, type HttpSettings, resolveSettings } from "../app/HttpOptions.ts"
import { type InFlightCount, makeInFlightCount } from "./InFlight.ts"

/** The part of a started Weft that mounts use. */
export interface WeftRuntime {
  readonly runtime: ManagedRuntime.ManagedRuntime<WeftServices, unknown>
}

export interface CloseOptions {
  /** Grace period for requests in flight, in milliseconds; default 30,000. After it, they are interrupted. */
  readonly graceMs?: number
}

export interface DrainOptions extends CloseOptions {
  /**
   * Time within the grace period in which new requests are still accepted, in milliseconds. The default is 0. Meanwhile,
   * load balancers notice the 503 of `/readyz`. Afterwards, new requests get 503, except `/healthz` and `/metrics`.
   */
  readonly lingerMs?: number
}

export interface MountedApp {
  readonly app: App
  readonly settings: HttpSettings
  readonly context: Context.Context<WeftServices>
  readonly webhooks: Webhooks["Service"]
  readonly domains: DomainRoutes["Service"]
  /** The scope of the fibers of all requests. */
  readonly requests: Scope.Scope
  readonly inFlight: InFlightCount
  /** True after `drain` was called. */
  readonly isDraining: () => boolean
  /** True if a request for this path gets 503. */
  readonly rejects: (path: string) => boolean
  /** Fails readiness checks and waits for the requests in flight. To be followed by `close`. */
  readonly drain: (options?: DrainOptions) => Promise<void>
  /** Waits for the requests in flight, then interrupts the rest. */
  readonly close: (options?: CloseOptions) => Promise<void>
}

const defaultGraceMs = 30_000
const flushMs = 1000

export const mountApp = async (weft: WeftRuntime, options: HttpOptions): Promise<MountedApp> => {
  const settings = resolveSettings(options)
  const context = withoutLibrarySpans(await weft.runtime.context())
  const scope = Scope.makeUnsafe()
  const app = await Effect.runPromiseWith(context)(Scope.provide(makeApp(settings), scope))
  const requests = Scope.forkUnsafe(scope, "parallel")
  const inFlight = makeInFlightCount()
  let isDraining = false
  let isRejecting = false
  const drain = Effect.fnUntraced(function* ({ graceMs = defaultGraceMs, lingerMs = 0 }: DrainOptions) {
    isDraining = true
    yield* app.endStreams
    if (lingerMs > 0) yield* Effect.sleep(Math.min(lingerMs, graceMs))
    isRejecting = true
    yield* Effect.raceFirst(inFlight.idle, Effect.sleep(Math.max(0, graceMs - lingerMs)))
  })
  return {
    app,
    settings,
    context,
    webhooks: Context.get(context, Webhooks),
    domains: Context.get(context, DomainRoutes),
    requests,
    inFlight,
    isDraining: () => isDraining,
    rejects: (path) => isDraining && (readinessPath.test(path) || (isRejecting && !probePath.test(path))),
    drain: (drainOptions = {}) => Effect.runPromise(drain(drainOptions)),
    close: ({ graceMs = defaultGraceMs } = {}) =>
      Effect.runPromise(
        Effect.gen(function* () {
          yield* app.endStreams
          yield* Effect.raceFirst(inFlight.idle, Effect.sleep(graceMs))
          yield* Scope.close(scope, Exit.void)
          // Interrupted requests also get a response, which needs a moment to be sent.
          yield* Effect.raceFirst(inFlight.idle, Effect.sleep(flushMs))
        })
      )
  }
}

/** Turns off the spans of libraries, which would record whole URLs. An unchanged context is faster. */
const withoutLibrarySpans = <R>(context: Context.Context<R>): Context.Context<R> =>
  Context.get(context, References.TracerEnabled) ? Context.add(context, References.TracerEnabled, false) : context

const readinessPath = /^\/readyz(\?|$)/
const probePath = /^\/(healthz|metrics)(\?|$)/
