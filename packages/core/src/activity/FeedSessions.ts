/** A transport of connections that break: each is followed by another, for ever. */
import { Clock, Effect, Exit, Fiber, Latch, Queue, Schedule, Scope } from "effect"
import { Timestamp } from "../ids/Timestamp.ts"
import { FeedAway, type FeedSignal, type FeedTransport } from "./FeedTransport.ts"

/** A connection over which all nodes hear each other, from when it is opened on. */
export interface FeedSession {
  /** Waits for texts; fails when the connection is lost. */
  readonly take: Effect.Effect<ReadonlyArray<string>, unknown>
  /** Returns when the texts were passed on. Where it fails, or takes too long, the connection counts as lost. */
  readonly send: (texts: ReadonlyArray<string>) => Effect.Effect<void, unknown>
}

/** How long texts may take to be passed on. */
const patience = "5 seconds"

/** How long a connection may take to end. */
const farewell = "1 second"

const reopening = Schedule.jittered(Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("3 seconds")]))

interface Opened extends FeedSession {
  /** Opens when the connection is of no use any more, whether it knows it or not. */
  readonly lost: Latch.Latch
  readonly close: Effect.Effect<void>
}

/** Fails where the first connection cannot be opened. `textBytesMax`: the largest text, in bytes of UTF-8. */
export const feedSessions = Effect.fnUntraced(function* <E>(
  open: Effect.Effect<FeedSession, E, Scope.Scope>,
  textBytesMax: number
): Effect.fn.Return<FeedTransport, E, Scope.Scope> {
  const clock = yield* Clock.Clock
  const received = yield* Queue.unbounded<FeedSignal>()
  const first = yield* openSession(open)
  let session: Opened | null = first
  let heardAt = 0
  yield* Effect.addFinalizer(() => (session === null ? Effect.void : session.close))

  const heard = () => {
    heardAt = clock.currentTimeMillisUnsafe()
  }
  /** Listens until the connection is lost; why, where it says so. */
  const follow = Effect.fnUntraced(function* ({ take, lost }: Opened) {
    heard()
    const listening = take.pipe(
      Effect.tap((texts) =>
        Effect.sync(() => {
          heard()
          for (const text of texts) Queue.offerUnsafe(received, { _tag: "Text", text })
        })
      ),
      Effect.forever
    )
    const exit = yield* Effect.exit(Effect.raceFirst(listening, lost.await))
    return Exit.isFailure(exit) ? exit.cause : "the connection was lost"
  })
  const again = Effect.fnUntraced(function* (why: unknown) {
    // It may have been lost for long: who is stopped for a while notices nothing.
    Queue.offerUnsafe(received, { _tag: "Away", since: Timestamp.make(heardAt) })
    yield* Effect.logWarning("The other nodes cannot be heard; trying again", why)
    const opening = Effect.tapError(openSession(open), (error) => Effect.logDebug("They still cannot be heard", error))
    session = yield* Effect.retry(opening, reopening)
    Queue.offerUnsafe(received, { _tag: "Back" })
    return session
  })
  yield* Effect.gen(function* () {
    let current = first
    while (true) {
      const why = yield* follow(current)
      session = null
      yield* current.close
      current = yield* again(why)
    }
  }).pipe(Effect.forkScoped)

  return {
    textBytesMax,
    received,
    send: (texts) =>
      Effect.suspend(() =>
        session === null
          ? Effect.fail(new FeedAway({ cause: "The connection is lost" }))
          : Effect.tap(sendOver(session, texts), () => Effect.sync(heard))
      )
  }
})

const openSession = <E>(open: Effect.Effect<FeedSession, E, Scope.Scope>): Effect.Effect<Opened, E> =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const session = yield* open.pipe(
      Scope.provide(scope),
      Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
    )
    // One that gives no answer is left to itself.
    const close = Effect.flatMap(Effect.forkDetach(Scope.close(scope, Exit.void)), (closing) =>
      Effect.asVoid(Effect.timeoutOption(Effect.interruptible(Fiber.await(closing)), farewell))
    )
    return { ...session, lost: Latch.makeUnsafe(false), close }
  })

const sendOver = Effect.fnUntraced(function* (
  { send, lost }: Opened,
  texts: ReadonlyArray<string>
): Effect.fn.Return<void, FeedAway> {
  // Apart from this fiber: to be interrupted, it might need an answer that does not come.
  const sending = yield* Effect.forkDetach(send(texts))
  const sent = yield* Effect.timeoutOption(Fiber.await(sending), patience)
  if (sent._tag === "Some" && Exit.isSuccess(sent.value)) return
  lost.openUnsafe()
  return yield* new FeedAway({ cause: sent._tag === "None" ? "No answer in time" : sent.value })
})
