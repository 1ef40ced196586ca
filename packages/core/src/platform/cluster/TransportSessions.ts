/** A transport that reconnects: a lost connection is replaced by a new one, until the scope closes. */
import { Clock, Effect, Exit, Fiber, Latch, Queue, Schedule, Scope } from "effect"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import { type ClusterTransport, TransportDisconnected, type TransportSignal } from "./ClusterTransport.ts"

/** A connection that carries the frames of all nodes from the moment it is open. */
export interface TransportSession {
  /** Waits for frames; fails when the connection is lost. */
  readonly take: Effect.Effect<ReadonlyArray<string>, unknown>
  /** Returns when the frames were accepted. If it fails or takes too long, the connection counts as lost. */
  readonly send: (frames: ReadonlyArray<string>) => Effect.Effect<void, unknown>
}

/** Timeout for sending frames. */
const sendTimeout = "5 seconds"

/** Timeout for closing a connection. */
const closeTimeout = "1 second"

const reconnectSchedule = Schedule.jittered(
  Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("3 seconds")])
)

interface Opened extends TransportSession {
  /** Opens when the connection counts as lost, even if it has not reported an error. */
  readonly lost: Latch.Latch
  readonly close: Effect.Effect<void>
}

/** Opens a transport. Fails if the first connection cannot be opened. `frameBytesMax` is in bytes of UTF-8. */
export const transportSessions = Effect.fnUntraced(function* <E>(
  open: Effect.Effect<TransportSession, E, Scope.Scope>,
  frameBytesMax: number
): Effect.fn.Return<ClusterTransport, E, Scope.Scope> {
  const clock = yield* Clock.Clock
  const received = yield* Queue.unbounded<TransportSignal>()
  const first = yield* openSession(open)
  let session: Opened | null = first
  let lastActiveAt = 0
  yield* Effect.addFinalizer(() => (session === null ? Effect.void : session.close))

  const markActive = () => {
    lastActiveAt = clock.currentTimeMillisUnsafe()
  }
  /** Receives until the connection is lost. Returns the cause. */
  const follow = Effect.fnUntraced(function* ({ take, lost }: Opened) {
    markActive()
    const receiving = take.pipe(
      Effect.tap((frames) =>
        Effect.sync(() => {
          markActive()
          for (const frame of frames) Queue.offerUnsafe(received, { _tag: "Frame", frame })
        })
      ),
      Effect.forever
    )
    const exit = yield* Effect.exit(Effect.raceFirst(receiving, lost.await))
    return Exit.isFailure(exit) ? exit.cause : "the connection was lost"
  })
  const reconnect = Effect.fnUntraced(function* (cause: unknown) {
    // The connection may have been lost long ago: a suspended process does not notice.
    Queue.offerUnsafe(received, { _tag: "Disconnected", since: Timestamp.make(lastActiveAt) })
    yield* Effect.logWarning("The connection to the other nodes is lost; reconnecting", cause)
    const opening = Effect.tapError(openSession(open), (error) => Effect.logDebug("Reconnecting failed", error))
    session = yield* Effect.retry(opening, reconnectSchedule)
    Queue.offerUnsafe(received, { _tag: "Reconnected" })
    return session
  })
  yield* Effect.gen(function* () {
    let current = first
    while (true) {
      const cause = yield* follow(current)
      session = null
      yield* current.close
      current = yield* reconnect(cause)
    }
  }).pipe(Effect.forkScoped)

  return {
    frameBytesMax,
    received,
    send: (frames) =>
      Effect.suspend(() =>
        session === null
          ? Effect.fail(new TransportDisconnected({ cause: "The connection is lost" }))
          : Effect.tap(sendOver(session, frames), () => Effect.sync(markActive))
      )
  }
})

const openSession = <E>(open: Effect.Effect<TransportSession, E, Scope.Scope>): Effect.Effect<Opened, E> =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const session = yield* open.pipe(
      Scope.provide(scope),
      Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
    )
    // A connection that does not close in time is abandoned.
    const close = Effect.flatMap(Effect.forkDetach(Scope.close(scope, Exit.void)), (closing) =>
      Effect.asVoid(Effect.timeoutOption(Effect.interruptible(Fiber.await(closing)), closeTimeout))
    )
    return { ...session, lost: Latch.makeUnsafe(false), close }
  })

const sendOver = Effect.fnUntraced(function* (
  { send, lost }: Opened,
  frames: ReadonlyArray<string>
): Effect.fn.Return<void, TransportDisconnected> {
  // In a detached fiber, because its interruption may wait for a response that never arrives.
  const sending = yield* Effect.forkDetach(send(frames))
  const sent = yield* Effect.timeoutOption(Fiber.await(sending), sendTimeout)
  if (sent._tag === "Some" && Exit.isSuccess(sent.value)) return
  lost.openUnsafe()
  return yield* new TransportDisconnected({ cause: sent._tag === "None" ? "Sending timed out" : sent.value })
})
