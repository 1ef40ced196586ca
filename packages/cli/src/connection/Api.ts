/** Requests to the selected server. */
import { createClient, type WeftClient } from "@weft/client"
import { Cause, Config, Context, Effect, Layer, Option, Redacted, Stream } from "effect"
import { type Failure, failure } from "../Failure.ts"
import { PreviewName, ProfileName, Url } from "../GlobalFlags.ts"
import { Profiles } from "../profiles/Profiles.ts"
import { isUnreachable, loginHint, type Role, toFailure } from "./RequestFailures.ts"
import { resolveTarget, type Target } from "./Target.ts"

/**
 * Options of every client call. The signal aborts requests when the command ends, and retries when the server is
 * unreachable.
 */
export interface RequestOptions {
  readonly signal: AbortSignal
}

export class Api extends Context.Service<
  Api,
  {
    readonly target: Effect.Effect<Target, Failure>
    /** Sends requests that need no credential. */
    readonly requestPublic: <A>(
      send: (status: WeftClient["status"], options: RequestOptions) => PromiseLike<A>
    ) => Effect.Effect<A, Failure>
    /** Sends requests with the API key. Fails without a request if the target has no key. */
    readonly request: <A>(
      send: (weft: WeftClient, options: RequestOptions) => PromiseLike<A>
    ) => Effect.Effect<A, Failure>
    /** Sends requests with the admin token. Fails without a request if the target has no token. */
    readonly requestAdmin: <A>(
      send: (admin: WeftClient["admin"], options: RequestOptions) => PromiseLike<A>
    ) => Effect.Effect<A, Failure>
    /** Streams the items of a list or a subscription. */
    readonly stream: <A>(
      open: (weft: WeftClient, options: RequestOptions) => AsyncIterable<A>
    ) => Stream.Stream<A, Failure>
  }
>()("weft/connection/Api") {
  static readonly layer = Layer.effect(
    Api,
    Effect.gen(function* () {
      const profiles = yield* Profiles
      const flags = { profile: Option.getOrNull(yield* ProfileName), url: Option.getOrNull(yield* Url) }
      const preview = Option.getOrUndefined(yield* PreviewName)
      const variables = yield* readVariables
      const target = yield* Effect.cached(
        Effect.flatMap(profiles.read, (config) => Effect.fromResult(resolveTarget(flags, variables, config)))
      )
      return makeApi(preview === undefined ? target : Effect.map(target, (found) => ({ ...found, preview })))
    })
  )
}

const variable = (name: string) => Effect.orDie(Config.option(Config.String(name)))

export const readVariables = Effect.gen(function* () {
  const secret = (name: string) => Effect.map(variable(name), Option.map(Redacted.make))
  return {
    profile: Option.getOrNull(yield* variable("WEFT_PROFILE")),
    url: Option.getOrNull(yield* variable("WEFT_URL")),
    apiKey: Option.getOrNull(yield* secret("WEFT_API_KEY")),
    adminToken: Option.getOrNull(yield* secret("WEFT_ADMIN_TOKEN"))
  }
})

/** Creates the service for a target, which is resolved by the first request. */
export const makeApi = (target: Effect.Effect<Target, Failure>): Api["Service"] => {
  const sendTo = <A>(
    resolved: Target,
    role: Role,
    send: (weft: WeftClient, options: RequestOptions) => PromiseLike<A>
  ) =>
    Effect.tryPromise({
      try: (signal) => {
        const { weft, options } = connect(resolved, signal)
        return send(weft, options)
      },
      catch: (error) => toFailure(error, resolved, role)
    })
  const requestAs = <A>(role: Role, send: (weft: WeftClient, options: RequestOptions) => PromiseLike<A>) =>
    Effect.flatMap(withCredential(target, role), (resolved) => sendTo(resolved, role, send))

  return Api.of({
    target,
    requestPublic: (send) =>
      Effect.flatMap(target, (resolved) =>
        sendTo({ ...resolved, apiKey: null, adminToken: null }, "key", ({ status }, options) => send(status, options))
      ),
    request: (send) => requestAs("key", send),
    requestAdmin: (send) => requestAs("admin", ({ admin }, options) => send(admin, options)),
    stream: (open) =>
      Stream.scoped(
        Stream.fromPull(
          Effect.gen(function* () {
            const resolved = yield* withCredential(target, "key")
            const aborting = yield* Effect.acquireRelease(
              Effect.sync(() => new AbortController()),
              (controller) => Effect.sync(() => controller.abort())
            )
            const { weft, options } = connect(resolved, aborting.signal)
            const iterator = open(weft, options)[Symbol.asyncIterator]()
            return Effect.tryPromise({
              try: () => iterator.next(),
              catch: (error) => toFailure(error, resolved, "key")
            }).pipe(
              Effect.flatMap((next) => (next.done === true ? Cause.done() : Effect.succeed([next.value] as const)))
            )
          })
        )
      )
  })
}

const withCredential = (target: Effect.Effect<Target, Failure>, role: Role) =>
  Effect.filterOrFail(
    target,
    ({ apiKey, adminToken }) => (role === "admin" ? adminToken : apiKey) !== null,
    (resolved) =>
      failure(
        "not_logged_in",
        role === "admin" ? `No admin token is known for ${resolved.url}` : `No API key is known for ${resolved.url}`,
        loginHint(resolved, role)
      )
  )

/** Returns a service whose requests act on the environment, whatever preview the command names. */
export const outsidePreview = (api: Api["Service"]): Api["Service"] =>
  makeApi(Effect.map(api.target, ({ preview: _, ...target }) => target))

/** Creates a client for one request. It stops retrying if the server was never reachable. */
const connect = ({ url, apiKey, adminToken, preview }: Target, signal: AbortSignal) => {
  const unreachable = new AbortController()
  let isReached = false
  const weft = createClient({
    baseUrl: url,
    token: apiKey === null ? undefined : Redacted.value(apiKey),
    adminToken: adminToken === null ? undefined : Redacted.value(adminToken),
    preview,
    fetch: async (input, init) => {
      try {
        const response = await globalThis.fetch(input, init)
        isReached = true
        return response
      } catch (error) {
        if (!isReached && isUnreachable(error)) unreachable.abort(error)
        throw error
      }
    }
  })
  return { weft, options: { signal: AbortSignal.any([signal, unreachable.signal]) } satisfies RequestOptions }
}
