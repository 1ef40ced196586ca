/**
 * The feed of the nodes of a database, over LISTEN and NOTIFY.
 *
 * Each node has a connection of its own for it, on which it listens and tells: whoever can be heard can hear. What is told
 * shares no transaction with what it is about, since commits of transactions that notify wait for each other.
 */
import { PgConnection, PgTypes } from "@effect/sql-pg"
import { type Feed, type FeedSession, FeedUnusable, feedSessions, sharedFeed } from "@weft/core"
import { Effect, type Layer, Queue, type Scope } from "effect"
import type { SqlError } from "effect/sql"
import { arrayOf } from "./Numbers.ts"
import { connectionConfig } from "./PostgresClient.ts"
import { type PostgresOptions, PostgresUnusable, type Resolved, resolve } from "./PostgresOptions.ts"

/** A notification must be shorter than 8,000 bytes. */
const textBytesMax = 7_999

/**
 * Nodes with the same database and schema tell each other. A pooler between must keep sessions, as `LISTEN` needs.
 * Waits for the database when it goes away, for ever.
 */
export const feed = (options: PostgresOptions): Layer.Layer<Feed, FeedUnusable> =>
  sharedFeed(
    Effect.suspend(() => {
      const resolved = resolve(options)
      return resolved instanceof PostgresUnusable
        ? Effect.fail(new FeedUnusable({ reason: resolved.reason, cause: resolved }))
        : feedSessions(Effect.mapError(open(resolved), unusable), textBytesMax)
    })
  )

const open = Effect.fnUntraced(function* (
  resolved: Resolved
): Effect.fn.Return<FeedSession, SqlError.SqlError, Scope.Scope> {
  const channel = channelOf(resolved)
  const connection = yield* Effect.flatMap(PgConnection.make(configOf(resolved)), ({ pin }) => pin)
  const notifications = yield* connection.listen(channel)
  return {
    take: Effect.map(Queue.takeAll(notifications), (some) => some.map(({ payload }) => payload)),
    send: (texts) =>
      Effect.suspend(() => {
        const parameter = arrayOf(texts, PgTypes.OID.text)
        return Effect.asVoid(connection.query(notify, [channel, parameter]))
      })
  }
})

/** What is told is gone with the server anyway, so nobody waits until a disk has it. */
const configOf = (resolved: Resolved): PgConnection.Config => {
  const config = connectionConfig(resolved)
  return { ...config, startupParameters: { ...config.startupParameters, synchronous_commit: "off" } }
}

/** Of the schema: several systems may share a database. */
export const channelOf = ({ schema }: Pick<Resolved, "schema">): string => `weft_feed_${schema}`

const notify = "SELECT pg_notify($1, text) FROM unnest($2::text[]) WITH ORDINALITY AS t (text, place) ORDER BY place"

const unusable = (error: SqlError.SqlError): FeedUnusable => {
  const { cause } = error.reason
  return new FeedUnusable({ reason: cause instanceof Error ? cause.message : error.message, cause: error })
}
