/** The server that the user means, asked through the client. */
import { createClient, type WeftClient } from "@weft/client"
import { Cause, Config, Context, Effect, Layer, Option, Redacted, Stream } from "effect"
import { type Failure, failure } from "../Failure.ts"
import { ProfileName, Url } from "../GlobalFlags.ts"
import { Profiles } from "../profiles/Profiles.ts"
import { failureOf, isUnreachable, loginOf, type Role } from "./Reasons.ts"
import { type Target, targetOf } from "./Target.ts"

/** Hand it to every method of the client: so a command that ends stops asking, and one without a server fails at once. */
export interface Asking {
  readonly signal: AbortSignal
}

export class Api extends Context.Service<
  Api,
  {
    readonly target: Effect.Effect<Target, Failure>
    /** Asks with the API key; fails without asking when there is none. */
    readonly ask: <A>(request: (weft: WeftClient, asking: Asking) => PromiseLike<A>) => Effect.Effect<A, Failure>
    /** Asks with the admin token; fails without asking when there is none. */
    readonly askAdmin: <A>(
      request: (admin: WeftClient["admin"], asking: Asking) => PromiseLike<A>
    ) => Effect.Effect<A, Failure>
    /** Lists, and subscriptions: what comes, as it comes. */
    readonly all: <A>(request: (weft: WeftClient, asking: Asking) => AsyncIterable<A>) => Stream.Stream<A, Failure>
  }
>()("weft/connection/Api") {
  static readonly layer = Layer.effect(
    Api,
    Effect.gen(function* () {
      const profiles = yield* Profiles
      const flags = { profile: Option.getOrNull(yield* ProfileName), url: Option.getOrNull(yield* Url) }
      const variables = yield* readVariables
      const target = yield* Effect.cached(
        Effect.flatMap(profiles.read, (book) => Effect.fromResult(targetOf(flags, variables, book)))
      )
      return apiOf(target)
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

/** Requests to a server that is known, or found out when the first one is made. */
export const apiOf = (target: Effect.Effect<Target, Failure>): Api["Service"] => {
  const asking = <A>(role: Role, request: (weft: WeftClient, asking: Asking) => PromiseLike<A>) =>
    Effect.flatMap(withCredential(target, role), (known) =>
      Effect.tryPromise({
        try: (signal) => {
          const { weft, asking } = connect(known, signal)
          return request(weft, asking)
        },
        catch: (error) => failureOf(error, known, role)
      })
    )

  return Api.of({
    target,
    ask: (request) => asking("key", request),
    askAdmin: (request) => asking("admin", ({ admin }, options) => request(admin, options)),
    all: (request) =>
      Stream.scoped(
        Stream.fromPull(
          Effect.gen(function* () {
            const known = yield* withCredential(target, "key")
            const ending = yield* Effect.acquireRelease(
              Effect.sync(() => new AbortController()),
              (controller) => Effect.sync(() => controller.abort())
            )
            const { weft, asking } = connect(known, ending.signal)
            const iterator = request(weft, asking)[Symbol.asyncIterator]()
            return Effect.tryPromise({
              try: () => iterator.next(),
              catch: (error) => failureOf(error, known, "key")
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
    (known) =>
      failure(
        "not_logged_in",
        role === "admin" ? `There is no admin token for ${known.url}` : `There is no key for ${known.url}`,
        loginOf(known, role)
      )
  )

/** A client for one request, whose repetitions end when it turns out that nobody is there. */
const connect = ({ url, apiKey, adminToken }: Target, signal: AbortSignal) => {
  const absent = new AbortController()
  let isThere = false
  const weft = createClient({
    baseUrl: url,
    token: apiKey === null ? undefined : Redacted.value(apiKey),
    adminToken: adminToken === null ? undefined : Redacted.value(adminToken),
    fetch: async (input, init) => {
      try {
        const response = await globalThis.fetch(input, init)
        isThere = true
        return response
      } catch (error) {
        if (!isThere && isUnreachable(error)) absent.abort(error)
        throw error
      }
    }
  })
  return { weft, asking: { signal: AbortSignal.any([signal, absent.signal]) } satisfies Asking }
}
