/**
 * The feed of the nodes of a database, over LISTEN and NOTIFY.
 *
 * Each node has a connection of its own for it, on which it listens and tells: whoever can be heard can hear. What is told
 * shares no transaction with what it is about, since commits of transactions that notify wait for each other.
 */
import { PgConnection, PgTypes } from "@effect/sql-pg"
import {
  type Feed,
  FeedAway,
  type FeedSignal,
  type FeedTransport,
  FeedUnusable,
  sharedFeed,
  Timestamp
} from "@weft/core"
import { Clock, Effect, Exit, Fiber, Latch, type Layer, Queue, Result, Schedule, Scope } from "effect"
import type { SqlError } from "effect/sql"
import { numbers } from "./Numbers.ts"
import { connectionConfig } from "./PostgresClient.ts"
import { type PostgresOptions, PostgresUnusable, type Resolved, resolve } from "./PostgresOptions.ts"

/** A notification must be shorter than 8,000 bytes. */
const textBytesMax = 7_999

/** How long the server may take to pass texts on. */
const patience = "5 seconds"

/** How long a connection may take to end. */
const farewell = "1 second"

/** It may take so long to notice that the server is cut off: it is asked after 15 s of silence, for 10 s. */
const unnoticedMs = 30_000

const reconnecting = Schedule.jittered(Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("3 seconds")]))

/**
 * Nodes with the same database and schema tell each other. A pooler between must keep sessions, as `LISTEN` needs.
 * Waits for the database when it goes away, for ever.
 */
export const feed = (options: PostgresOptions): Layer.Layer<Feed, FeedUnusable> => sharedFeed(connect(options))

interface Session {
  readonly connection: PgConnection.PgConnection
  readonly notifications: Queue.Dequeue<PgConnection.Notification, SqlError.SqlError>
  /** Opens when the connection is of no use any more, whether it knows it or not. */
  readonly lost: Latch.Latch
  readonly scope: Scope.Closeable
}

const connect = Effect.fnUntraced(function* (
  options: PostgresOptions
): Effect.fn.Return<FeedTransport, FeedUnusable, Scope.Scope> {
  const resolved = resolve(options)
  if (resolved instanceof PostgresUnusable) {
    return yield* new FeedUnusable({ reason: resolved.reason, cause: resolved })
  }
  const clock = yield* Clock.Clock
  const received = yield* Queue.unbounded<FeedSignal>()
  const open = openSession(resolved)
  const first = yield* Effect.mapError(open, unusable)
  let session: Session | null = first
  let heardAt = 0
  yield* Effect.addFinalizer(() => (session === null ? Effect.void : closeSession(session)))

  const heard = () => {
    heardAt = clock.currentTimeMillisUnsafe()
  }
  /** Listens until the connection is lost. */
  const follow = Effect.fnUntraced(function* ({ notifications, lost }: Session) {
    heard()
    const listening = Queue.takeAll(notifications).pipe(
      Effect.tap((some) =>
        Effect.sync(() => {
          heard()
          for (const { payload } of some) Queue.offerUnsafe(received, { _tag: "Text", text: payload })
        })
      ),
      Effect.forever
    )
    yield* Effect.exit(Effect.raceFirst(listening, lost.await))
  })
  const again = Effect.gen(function* () {
    const since = Timestamp.make(Math.max(heardAt, clock.currentTimeMillisUnsafe() - unnoticedMs))
    Queue.offerUnsafe(received, { _tag: "Away", since })
    yield* Effect.logWarning("Other nodes cannot be heard until the database is reached again")
    session = yield* Effect.retry(open, reconnecting)
    Queue.offerUnsafe(received, { _tag: "Back" })
    return session
  })
  yield* Effect.gen(function* () {
    let current = first
    while (true) {
      yield* follow(current)
      session = null
      yield* closeSession(current)
      current = yield* again
    }
  }).pipe(Effect.forkScoped)

  const channel = channelOf(resolved)
  return {
    textBytesMax,
    received,
    send: (texts) =>
      Effect.suspend(() => {
        if (session === null) return Effect.fail(new FeedAway({ cause: "The connection is lost" }))
        return Effect.tap(notify(session, channel, texts), () => Effect.sync(heard))
      })
  }
})

/** Of the schema: several systems may share a database. */
const channelOf = ({ schema }: Resolved): string => `weft_feed_${schema}`

const openSession = (resolved: Resolved): Effect.Effect<Session, SqlError.SqlError> =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    return yield* Effect.gen(function* () {
      const connection = yield* Effect.flatMap(PgConnection.make(connectionConfig(resolved)), ({ pin }) => pin)
      const notifications = yield* connection.listen(channelOf(resolved))
      return { connection, notifications, lost: Latch.makeUnsafe(false), scope }
    }).pipe(
      Scope.provide(scope),
      Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
    )
  })

/** A connection that gives no answer is left to itself. */
const closeSession = ({ scope }: Session): Effect.Effect<void> =>
  Effect.flatMap(Effect.forkDetach(Scope.close(scope, Exit.void)), (closing) =>
    Effect.asVoid(Effect.timeoutOption(Effect.interruptible(Fiber.await(closing)), farewell))
  )

const notify = Effect.fnUntraced(function* (
  { connection, lost }: Session,
  channel: string,
  texts: ReadonlyArray<string>
): Effect.fn.Return<void, FeedAway> {
  const parameter = Result.getOrThrow(PgTypes.array(texts, PgTypes.OID.text, numbers))
  // Apart from this fiber, because to be interrupted it would need an answer.
  const asking = yield* Effect.forkDetach(connection.query(statement, [channel, parameter]))
  const told = yield* Effect.timeoutOption(Fiber.await(asking), patience)
  if (told._tag === "Some" && Exit.isSuccess(told.value)) return
  lost.openUnsafe()
  return yield* new FeedAway({ cause: told._tag === "None" ? "No answer in time" : told.value })
})

const statement = "SELECT pg_notify($1, text) FROM unnest($2::text[]) WITH ORDINALITY AS t (text, place) ORDER BY place"

const unusable = (error: SqlError.SqlError): FeedUnusable => {
  const { cause } = error.reason
  return new FeedUnusable({ reason: cause instanceof Error ? cause.message : error.message, cause: error })
}
