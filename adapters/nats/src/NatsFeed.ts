/** The feed of nodes over NATS: one subject, to which all of them publish and subscribe. Nothing is stored there. */
import { connect, type NatsConnection } from "@nats-io/transport-node"
import { type Feed, type FeedSession, FeedUnusable, feedSessions, sharedFeed } from "@weft/core"
import { type Cause, Effect, type Layer, Queue, Redacted, type Scope } from "effect"
import { type NatsOptions, type Resolved, resolve } from "./NatsOptions.ts"

/** A silent connection is asked so often whether it is there, in milliseconds, and may owe so many answers. */
const pingInterval = 3_000
const maxPingOut = 2

/** Half of what servers take by default. */
const textBytesMax = 512 * 1024

/** How long a server may take to let this node in, in milliseconds. */
const timeout = 5_000

/** Waits for the servers when they go away, for ever. */
export const feed = (options: NatsOptions): Layer.Layer<Feed, FeedUnusable> =>
  sharedFeed(
    Effect.suspend(() => {
      const resolved = resolve(options)
      return typeof resolved === "string"
        ? Effect.fail(new FeedUnusable({ reason: resolved, cause: resolved }))
        : feedSessions(open(resolved), textBytesMax)
    })
  )

const asking = <A>(ask: () => Promise<A>): Effect.Effect<A, FeedUnusable> =>
  Effect.tryPromise({ try: ask, catch: unusable })

const unusable = (cause: unknown): FeedUnusable =>
  new FeedUnusable({ reason: cause instanceof Error ? cause.message : "The server refuses", cause })

const open = Effect.fnUntraced(function* (
  resolved: Resolved
): Effect.fn.Return<FeedSession, FeedUnusable, Scope.Scope> {
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
  // The server answers in order: from now on it knows who listens.
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
}: Resolved): Effect.Effect<NatsConnection, FeedUnusable, Scope.Scope> =>
  Effect.acquireRelease(
    asking(() =>
      connect({
        servers: [...servers],
        name: "weft",
        timeout,
        pingInterval,
        maxPingOut,
        // What is lost with a connection must be known: each has its end.
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
