/**
 * `Egress` on undici: every request is judged, connected to what was judged, limited and brought to an end.
 *
 *     start({ egress: outbound({ policy: { allow: ["db.internal:8080"] } }), … })
 *
 * No proxy is used, whatever the environment says.
 */
import {
  currentTraceparent,
  Egress,
  EgressFailed,
  type EgressPolicy,
  type EgressPolicyInvalid,
  type EgressRequest,
  type EgressResponse,
  type EgressRules,
  type EnvId,
  egressRules,
  isAllowedName,
  isToldTrace,
  judgeAddresses,
  judgeDestination
} from "@weft/core"
import { Deferred, Effect, Layer, RcMap, Semaphore, Stream } from "effect"
import type { Pool } from "undici"
import { type Connections, makeConnections } from "./Connections.ts"
import { exchange, type Head } from "./Exchange.ts"
import { type Lookup, makeLookup } from "./Lookup.ts"
import { type Hop, nextHop, redirectTarget } from "./Redirects.ts"
import { firstHop } from "./RequestHead.ts"
import { type ContentLimits, contentOf } from "./ResponseBody.ts"

export interface OutboundOptions {
  readonly policy?: Partial<EgressPolicy>
  /** Name servers to ask, each `ADDRESS` or `ADDRESS:PORT`; those of the system by default. */
  readonly nameServers?: ReadonlyArray<string>
  /** Certificates of authorities to trust besides those that Node does, in PEM. */
  readonly certificates?: ReadonlyArray<string>
}

export const outbound = (options: OutboundOptions = {}): Layer.Layer<Egress, EgressPolicyInvalid> =>
  Layer.effect(Egress, make(options))

/** What all requests share. */
interface Way {
  readonly rules: EgressRules
  readonly lookup: Lookup
  readonly connections: Connections
}

const make = Effect.fnUntraced(function* ({ policy, nameServers, certificates }: OutboundOptions) {
  const rules = yield* Effect.fromResult(egressRules(policy))
  const way: Way = { rules, lookup: makeLookup(nameServers), connections: yield* makeConnections(certificates) }
  const all = yield* Semaphore.make(rules.concurrent)
  const ofEnvs = yield* RcMap.make({ lookup: (_: EnvId) => Semaphore.make(rules.concurrentPerEnv) })

  return Egress.of({
    send: Effect.fnUntraced(function* (envId: EnvId, request: EgressRequest) {
      const first = yield* Effect.fromResult(firstHop(request, rules.userAgent))
      const life = yield* lifetime(rules.totalMs)
      const response = Effect.gen(function* () {
        yield* Semaphore.takeScoped(yield* RcMap.get(ofEnvs, envId), 1)
        yield* Semaphore.takeScoped(all, 1)
        return yield* follow(way, envId, first, request.redirect, life)
      })
      return yield* Effect.raceFirst(response, life.late)
    })
  })
})

/** How long a request may go on: until its time is over or its scope ends. */
interface Lifetime {
  /** Aborted when it has gone on for so long. */
  readonly signal: AbortSignal
  /** Never returns, and fails when the time is over. */
  readonly late: Effect.Effect<never, EgressFailed>
  /** The request came to its end; its connection may be used again. */
  readonly finish: () => void
}

const lifetime = Effect.fnUntraced(function* (totalMs: number) {
  const controller = new AbortController()
  const late = yield* Deferred.make<never, EgressFailed>()
  const failure = new EgressFailed({ reason: `the request took longer than ${totalMs} ms` })
  yield* Effect.forkScoped(
    Effect.andThen(
      Effect.sleep(totalMs),
      Effect.suspend(() => {
        controller.abort(failure)
        return Deferred.fail(late, failure)
      })
    )
  )
  let isFinished = false
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      if (!isFinished) controller.abort(new EgressFailed({ reason: "the request was ended" }))
    })
  )
  const life: Lifetime = {
    signal: controller.signal,
    late: Deferred.await(late),
    finish: () => {
      isFinished = true
    }
  }
  return life
})

/** Sends, and sends again where the response says so. Every target is judged anew. */
const follow = Effect.fnUntraced(function* (
  way: Way,
  envId: EnvId,
  first: Hop,
  redirect: EgressRequest["redirect"],
  life: Lifetime
) {
  let hop = first
  for (let followed = 0; ; followed++) {
    const head = yield* exchange(yield* connect(way, envId, hop.url), yield* toldTrace(way, hop), life.signal)
    const target = redirect === "manual" ? null : redirectTarget(head.status, head.location)
    if (target === null)
      return yield* responseOf(head, hop, followed > 0, { bytesMax: way.rules.responseBytes, onEnd: life.finish })
    head.body.destroy()
    if (redirect === "error") return yield* new EgressFailed({ reason: "the response is a redirect" })
    if (followed === way.rules.redirects) {
      return yield* new EgressFailed({ reason: `more than ${way.rules.redirects} redirects` })
    }
    hop = yield* Effect.fromResult(nextHop(hop, head.status, target))
  }
})

/** The hop as it is sent: with the trace that it belongs to, where that may be told. */
const toldTrace = ({ rules }: Way, hop: Hop): Effect.Effect<Hop> =>
  rules.traceparent.length === 0 || !isToldTrace(rules, destinationOf(hop.url))
    ? Effect.succeed(hop)
    : Effect.map(currentTraceparent, (traceparent) =>
        traceparent === undefined || hop.headers.some(([name]) => name === "traceparent")
          ? hop
          : { ...hop, headers: [...hop.headers, ["traceparent", traceparent]] }
      )

const destinationOf = (url: URL) => {
  const scheme = url.protocol.slice(0, -1)
  const port = url.port === "" ? (scheme === "https" ? 443 : 80) : Number(url.port)
  return { scheme, host: url.hostname, port }
}

/** Connections to where the URL leads, if it may be gone there: names are looked up once, and all they give is judged. */
const connect = Effect.fnUntraced(function* ({ rules, lookup, connections }: Way, envId: EnvId, url: URL) {
  const destination = destinationOf(url)
  const refused = judgeDestination(rules, destination)
  if (refused !== null) return yield* refused
  const addresses = yield* lookup(url.hostname, isAllowedName(rules, destination))
  const dangerous = judgeAddresses(rules, destination, addresses)
  if (dangerous !== null) return yield* dangerous
  const pool: Pool = yield* connections({ envId, origin: url.origin, addresses })
  return pool
})

const bodiless = new Set([204, 205, 304])

const responseOf = (
  head: Head,
  { url, method }: Hop,
  redirected: boolean,
  limits: ContentLimits
): Effect.Effect<EgressResponse, EgressFailed> => {
  const { status, statusText } = head
  const shown = new URL(url)
  shown.hash = ""
  const response = { status, statusText, url: shown.href, redirected }
  if (method !== "HEAD" && !bodiless.has(status)) {
    return Effect.map(contentOf(head.body, head.headers, limits), (content) => ({ ...response, ...content }))
  }
  head.body.on("end", limits.onEnd).resume()
  return Effect.succeed({ ...response, headers: head.headers, body: Stream.empty })
}
