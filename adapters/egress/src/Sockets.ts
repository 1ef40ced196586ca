/** TCP sockets and WebSockets within the policy: their destinations, addresses and number. */

import type { EnvId } from "@weft/core"
import {
  checkDestination,
  checkSocketDestination,
  type Egress,
  EgressFailed,
  EgressRefused,
  type EgressRules,
  type TlsOptions
} from "@weft/core/adapter"
import { Effect, type Scope } from "effect"
import { canonicalHost, checkedAddresses, destinationOf, type Resolver, refuseUnresolved } from "./Destination.ts"
import { dial, startTls } from "./Dial.ts"
import { firstHop } from "./RequestHead.ts"
import { sessionOf, TcpSocket } from "./TcpSocket.ts"
import { openWebSocket } from "./WebSocketClient.ts"

type Sockets = Pick<Egress["Service"], "openSocket" | "openWebSocket">

/** Creates the functions that open sockets. `certificates` are additional trusted authorities, in PEM. */
export const makeSockets = (resolver: Resolver, certificates: ReadonlyArray<string> | undefined): Sockets => {
  const { rules } = resolver
  const slots = new Slots(rules)
  return {
    openSocket: Effect.fnUntraced(function* (envId, { host, port, tls }) {
      const name = canonicalHost(host)
      if (name === null) return yield* new EgressRefused({ reason: "the host is not a name or an address" })
      const destination = { host: name, port }
      const refused = refuseUnresolved(rules, destination, checkSocketDestination(rules, destination))
      if (refused !== null) return yield* refused
      yield* slots.take(envId)
      const addresses = yield* checkedAddresses(resolver, destination)
      const plain = yield* dial({ ...destination, addresses })
      const options = { host: name, idleMs: rules.socketIdleMs, certificates }
      if (tls === null) return new TcpSocket(plain, null, options)
      const secure = yield* startTls(plain, name, tls, certificates)
      return new TcpSocket(secure, sessionOf(secure), options)
    }),
    openWebSocket: Effect.fnUntraced(function* (envId, { url, protocols, headers }) {
      const target = URL.parse(url)
      if (target === null || !/^wss?:$/.test(target.protocol)) {
        return yield* new EgressRefused({ reason: "the URL of a WebSocket must begin with ws: or wss:" })
      }
      const isSecure = target.protocol === "wss:"
      // The rules of a handshake are those of a request.
      target.protocol = isSecure ? "https:" : "http:"
      const request = { method: "GET", url: target.href, headers, body: null, redirect: "manual" } as const
      const head = yield* Effect.fromResult(firstHop(request, rules.userAgent))
      const destination = destinationOf(head.url)
      const refused = refuseUnresolved(rules, destination, checkDestination(rules, destination))
      if (refused !== null) return yield* refused
      yield* slots.take(envId)
      const addresses = yield* checkedAddresses(resolver, destination)
      const plain = yield* dial({ ...destination, addresses })
      return yield* openWebSocket(
        isSecure ? yield* startTls(plain, destination.host, webSocketTls, certificates) : plain,
        {
          url: head.url,
          protocols,
          headers: head.headers.filter(([name]) => !isOfHandshake(name)),
          messageBytes: rules.messageBytes,
          idleMs: rules.socketIdleMs
        }
      )
    })
  }
}

const webSocketTls: TlsOptions = { serverName: null, verify: true, authorities: [], alpn: ["http/1.1"] }

const isOfHandshake = (name: string): boolean => name.startsWith("sec-websocket-") || name === "accept-encoding"

/** Counts open sockets, of each environment and of all. */
class Slots {
  readonly #rules: EgressRules
  readonly #open = new Map<EnvId, number>()
  #all = 0

  constructor(rules: EgressRules) {
    this.#rules = rules
  }

  /** Counts one more until the scope closes, or fails. */
  take(envId: EnvId): Effect.Effect<void, EgressFailed, Scope.Scope> {
    const { socketsPerEnv, sockets } = this.#rules
    return Effect.acquireRelease(
      Effect.suspend(() => {
        if ((this.#open.get(envId) ?? 0) >= socketsPerEnv) {
          return Effect.fail(
            new EgressFailed({ reason: `the environment has ${socketsPerEnv} open sockets, its maximum` })
          )
        }
        if (this.#all >= sockets)
          return Effect.fail(new EgressFailed({ reason: "this server has no free sockets now" }))
        this.#count(envId, 1)
        return Effect.void
      }),
      () => Effect.sync(() => this.#count(envId, -1))
    )
  }

  #count(envId: EnvId, change: number): void {
    this.#all += change
    const now = (this.#open.get(envId) ?? 0) + change
    if (now > 0) this.#open.set(envId, now)
    else this.#open.delete(envId)
  }
}
