/** What the mounts share: the app on a running Weft, and how it ends. */
import { DomainRoutes, Webhooks, type WeftServices } from "@weft/core"
import { Context, Effect, Exit, type ManagedRuntime, References, Scope } from "effect"
import { type App, makeApp } from "../app/App.ts"
import { type HttpOptions, type HttpSettings, settingsOf } from "../app/HttpOptions.ts"
import { type InFlight, makeInFlight } from "./InFlight.ts"

/** What `start` resolves to, as far as mounts care. */
export interface WeftRuntime {
  readonly runtime: ManagedRuntime.ManagedRuntime<WeftServices, unknown>
}

export interface CloseOptions {
  /** How long requests may take to finish, in milliseconds; default 30,000. Those that do not are interrupted. */
  readonly graceMs?: number
}

export interface DrainOptions extends CloseOptions {
  /**
   * How much of that time new requests are still answered, for balancers that have not yet seen that `/readyz` says 503;
   * default 0. After that they are refused with 503, but for those that ask after the node itself.
   */
  readonly lingerMs?: number
}

export interface Serving {
  readonly app: App
  readonly settings: HttpSettings
  readonly context: Context.Context<WeftServices>
  readonly webhooks: Webhooks["Service"]
  readonly domains: DomainRoutes["Service"]
  /** Every request's fiber belongs to it. */
  readonly requests: Scope.Scope
  readonly inFlight: InFlight
  /** Whether clients are to go elsewhere. */
  readonly isLeaving: () => boolean
  /** Whether a request for this path is to be refused. */
  readonly refuses: (path: string) => boolean
  /** Sends clients elsewhere and waits for the requests. Everything still works, and `close` follows. */
  readonly drain: (options?: DrainOptions) => Promise<void>
  /** Waits for the requests, then interrupts what is left. */
  readonly close: (options?: CloseOptions) => Promise<void>
}

const defaultGraceMs = 30_000
const sendingMs = 1000

export const openServing = async (weft: WeftRuntime, options: HttpOptions): Promise<Serving> => {
  const settings = settingsOf(options)
  const context = withOwnSpansOnly(await weft.runtime.context())
  const scope = Scope.makeUnsafe()
  const app = await Effect.runPromiseWith(context)(Scope.provide(makeApp(settings), scope))
  const requests = Scope.forkUnsafe(scope, "parallel")
  const inFlight = makeInFlight()
  let isLeaving = false
  let isRefusing = false
  const drain = Effect.fnUntraced(function* ({ graceMs = defaultGraceMs, lingerMs = 0 }: DrainOptions) {
    isLeaving = true
    yield* app.endStreams
    if (lingerMs > 0) yield* Effect.sleep(Math.min(lingerMs, graceMs))
    isRefusing = true
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
    isLeaving: () => isLeaving,
    refuses: (path) => isLeaving && (asksWhetherReady.test(path) || (isRefusing && !asksAfterNode.test(path))),
    drain: (drainOptions = {}) => Effect.runPromise(drain(drainOptions)),
    close: ({ graceMs = defaultGraceMs } = {}) =>
      Effect.runPromise(
        Effect.gen(function* () {
          yield* app.endStreams
          yield* Effect.raceFirst(inFlight.idle, Effect.sleep(graceMs))
          yield* Scope.close(scope, Exit.void)
          // What was interrupted has an answer, too, that takes a moment to be sent.
          yield* Effect.raceFirst(inFlight.idle, Effect.sleep(sendingMs))
        })
      )
  }
}

/** The requests have spans of ours: those of libraries would tell whole URLs. A context as it is, is quicker. */
const withOwnSpansOnly = <R>(context: Context.Context<R>): Context.Context<R> =>
  Context.get(context, References.TracerEnabled) ? Context.add(context, References.TracerEnabled, false) : context

const asksWhetherReady = /^\/readyz(\?|$)/
const asksAfterNode = /^\/(healthz|metrics)(\?|$)/
