/**
 * `Egress` on undici: checks the destination of every request, connects only to checked addresses, and enforces limits.
 *
 *     start({ egress: outbound({ policy: { allow: ["db.internal:8080"] } }), … })
 *
 * It uses no proxy, even if the environment defines one.
 */
import type { EgressPolicyInvalid, EnvId } from "@weft/core"
import {
  checkDestination,
  currentTraceparent,
  Egress,
  EgressFailed,
  type EgressPolicy,
  type EgressRequest,
  type EgressResponse,
  egressRules,
  sendsTraceparent
} from "@weft/core/adapter"
import { Deferred, Effect, Layer, RcMap, Semaphore, Stream } from "effect"
import type { Pool } from "undici"
import { type Connections, makeConnections } from "./Connections.ts"
import { checkedAddresses, destinationOf, type Resolver, refuseUnresolved } from "./Destination.ts"
import { type ResponseHead, sendHop } from "./HttpTransport.ts"
import { makeLookup } from "./Lookup.ts"
import { makeNames } from "./Names.ts"
import { type Hop, nextHop, redirectTarget } from "./Redirects.ts"
import { firstHop } from "./RequestHead.ts"
import { type ContentLimits, decodeContent } from "./ResponseBody.ts"
import { makeSockets } from "./Sockets.ts"

export interface EgressOptions {
  readonly policy?: Partial<EgressPolicy>
  /** Name servers, each `ADDRESS` or `ADDRESS:PORT`; by default the system's. */
  readonly nameServers?: ReadonlyArray<string>
  /** Additional trusted certificate authorities, in PEM. */
  readonly certificates?: ReadonlyArray<string>
}

export const egress = (options: EgressOptions = {}): Layer.Layer<Egress, EgressPolicyInvalid> =>
  Layer.effect(Egress, make(options))

/** Parts that all requests share. */
interface EgressContext extends Resolver {
  readonly connections: Connections
}

const make = Effect.fnUntraced(function* ({ policy, nameServers, certificates }: EgressOptions) {
  const rules = yield* Effect.fromResult(egressRules(policy))
  const context: EgressContext = {
    rules,
    lookup: makeLookup(nameServers),
    connections: yield* makeConnections(certificates)
  }
  const all = yield* Semaphore.make(rules.concurrent)
  const perEnv = yield* RcMap.make({ lookup: (_: EnvId) => Semaphore.make(rules.concurrentPerEnv) })
  const slot = Effect.fnUntraced(function* (envId: EnvId) {
    yield* Semaphore.takeScoped(yield* RcMap.get(perEnv, envId), 1)
    yield* Semaphore.takeScoped(all, 1)
  })

  return Egress.of({
    ...makeSockets(context, certificates),
    lookup: makeNames(context, slot),
    send: Effect.fnUntraced(function* (envId: EnvId, request: EgressRequest) {
      const first = yield* Effect.fromResult(firstHop(request, rules.userAgent))
      // Before anything is allocated for the request: a guest can repeat refused requests without a wait.
      const destination = destinationOf(first.url)
      const refused = refuseUnresolved(rules, destination, checkDestination(rules, destination))
      if (refused !== null) return yield* refused
      const lifetime = yield* startLifetime(rules.totalMs)
      const response = Effect.gen(function* () {
        yield* slot(envId)
        return yield* follow(context, envId, first, request.redirect, lifetime)
      })
      return yield* Effect.raceFirst(response, lifetime.late)
    })
  })
})

/** Lifetime of a request: until its timeout, or until its scope closes. */
interface Lifetime {
  /** Aborted at the end of the lifetime. */
  readonly signal: AbortSignal
  /** Never succeeds; fails at the timeout. */
  readonly late: Effect.Effect<never, EgressFailed>
  /** Marks the request as finished, so that its connection is reusable. */
  readonly finish: () => void
}

const cancelled = new EgressFailed({ reason: "the request was cancelled" })

const startLifetime = Effect.fnUntraced(function* (totalMs: number) {
  const controller = new AbortController()
  const late = yield* Deferred.make<never, EgressFailed>()
  yield* Effect.forkScoped(
    Effect.andThen(
      Effect.sleep(totalMs),
      Effect.suspend(() => {
        const failure = new EgressFailed({ reason: `the request took longer than ${totalMs} ms` })
        controller.abort(failure)
        return Deferred.fail(late, failure)
      })
    )
  )
  let isFinished = false
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      if (!isFinished) controller.abort(cancelled)
    })
  )
  const lifetime: Lifetime = {
    signal: controller.signal,
    late: Deferred.await(late),
    finish: () => {
      isFinished = true
    }
  }
  return lifetime
})

/** Sends the request and follows redirects. Every target is checked again. */
const follow = Effect.fnUntraced(function* (
  context: EgressContext,
  envId: EnvId,
  first: Hop,
  redirect: EgressRequest["redirect"],
  lifetime: Lifetime
) {
  let hop = first
  for (let followed = 0; ; followed++) {
    const head = yield* sendHop(
      yield* connect(context, envId, hop.url),
      yield* addTraceparent(context, hop),
      lifetime.signal
    )
    const target = redirect === "manual" ? null : redirectTarget(head.status, head.location)
    if (target === null)
      return yield* toResponse(head, hop, followed > 0, {
        bytesMax: context.rules.responseBytes,
        onEnd: lifetime.finish
      })
    head.body.destroy()
    if (redirect === "error") return yield* new EgressFailed({ reason: "the response is a redirect" })
    if (followed === context.rules.redirects) {
      return yield* new EgressFailed({ reason: `more than ${context.rules.redirects} redirects` })
    }
    hop = yield* Effect.fromResult(nextHop(hop, head.status, target))
  }
})

/** Returns the hop with its `traceparent`, if the rules allow that header for the destination. */
const addTraceparent = ({ rules }: EgressContext, hop: Hop): Effect.Effect<Hop> =>
  rules.traceparent.length === 0 || !sendsTraceparent(rules, destinationOf(hop.url))
    ? Effect.succeed(hop)
    : Effect.map(currentTraceparent, (traceparent) =>
        traceparent === undefined || hop.headers.some(([name]) => name === "traceparent")
          ? hop
          : { ...hop, headers: [...hop.headers, ["traceparent", traceparent]] }
      )

/** Checks the destination and returns its connections. */
const connect = Effect.fnUntraced(function* (context: EgressContext, envId: EnvId, url: URL) {
  const destination = destinationOf(url)
  const refused = checkDestination(context.rules, destination)
  if (refused !== null) return yield* refused
  const addresses = yield* checkedAddresses(context, destination)
  const pool: Pool = yield* context.connections({ envId, origin: url.origin, addresses })
  return pool
})

const bodiless = new Set([204, 205, 304])

const toResponse = (
  head: ResponseHead,
  { url, method }: Hop,
  redirected: boolean,
  limits: ContentLimits
): Effect.Effect<EgressResponse, EgressFailed> => {
  const { status, statusText } = head
  const shown = new URL(url)
  shown.hash = ""
  const response = { status, statusText, url: shown.href, redirected }
  if (method !== "HEAD" && !bodiless.has(status)) {
    return Effect.map(decodeContent(head.body, head.headers, limits), (content) => ({ ...response, ...content }))
  }
  head.body.on("end", limits.onEnd).resume()
  return Effect.succeed({ ...response, headers: head.headers, body: Stream.empty })
}
