/** The cluster bus over NATS. All nodes publish and subscribe to one subject; NATS stores nothing. */
import { connect, type NatsConnection } from "@nats-io/transport-node"
import {
  type ClusterBus,
  ClusterUnusable,
  sharedClusterBus,
  type TransportSession,
  transportSessions
} from "@weft/core/adapter"
import { type Cause, Effect, type Layer, Queue, Redacted, type Scope } from "effect"
import { type NatsOptions, type Resolved, resolve } from "./NatsOptions.ts"

/** Interval of pings on a silent connection, in milliseconds, and the maximum of unanswered pings. */
const pingInterval = 3_000
const maxPingOut = 2

/** Maximum payload in bytes, half of the servers' default limit. */
const textBytesMax = 512 * 1024

/** Maximum time to connect and authenticate, in milliseconds. */
const timeout = 5_000

/** Reconnects without a limit when the servers are unavailable. */
export const cluster = (options: NatsOptions): Layer.Layer<ClusterBus, ClusterUnusable> =>
  sharedClusterBus(
    Effect.suspend(() => {
      const resolved = resolve(options)
      return typeof resolved === "string"
        ? Effect.fail(new ClusterUnusable({ reason: resolved, cause: resolved }))
        : transportSessions(open(resolved), textBytesMax)
    })
  )

const asking = <A>(ask: () => Promise<A>): Effect.Effect<A, ClusterUnusable> =>
  Effect.tryPromise({ try: ask, catch: unusable })

const unusable = (cause: unknown): ClusterUnusable =>
  new ClusterUnusable({ reason: cause instanceof Error ? cause.message : "The server refuses", cause })

const open = Effect.fnUntraced(function* (
  resolved: Resolved
): Effect.fn.Return<TransportSession, ClusterUnusable, Scope.Scope> {
  const { subject } = resolved
  const connection = yield* connected(resolved)
  const received = yield* Queue.unbounded<string, Cause.Done>()
  let refusal: Error | null = null
  connection.subscribe(subject, {
    callback: (error, message) => {
      refusal ??= error
      if (error === null) Queue.offerUnsafe(received, message.string())
      else Queue.endUnsafe(received)
    }
  })
  void connection.closed().then(() => Queue.endUnsafe(received))
  // The server answers in order: after this it has registered the subscription.
  yield* asking(() => connection.flush())
  if (refusal !== null) return yield* unusable(refusal)
  return {
    take: Queue.takeAll(received),
    send: (texts) =>
      asking(() => {
        for (const text of texts) connection.publish(subject, text)
        return connection.flush()
      })
  }
})

const connected = ({
  servers,
  isTls,
  user,
  password,
  token
}: Resolved): Effect.Effect<NatsConnection, ClusterUnusable, Scope.Scope> =>
  Effect.acquireRelease(
    asking(() =>
      connect({
        servers: [...servers],
        name: "weft",
        timeout,
        pingInterval,
        maxPingOut,
        // Every lost connection ends its session, so that the bus reports a gap.
        reconnect: false,
        noEcho: true,
        ...(isTls ? { tls: {} } : {}),
        ...(user === null ? {} : { user }),
        ...(password === null ? {} : { pass: Redacted.value(password) }),
        ...(token === null ? {} : { token: Redacted.value(token) })
      })
    ),
    (connection) => Effect.promise(() => connection.close())
  )
