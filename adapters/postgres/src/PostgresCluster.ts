/**
 * The cluster bus of the nodes of a database, over LISTEN and NOTIFY.
 *
 * Each node listens and notifies on one dedicated connection, so a node that can send can also receive. A notification
 * is not part of the transaction that it reports, because PostgreSQL serializes commits of transactions that notify.
 */
import { PgConnection, PgTypes } from "@effect/sql-pg"
import {
  type ClusterBus,
  ClusterUnusable,
  sharedClusterBus,
  type TransportSession,
  transportSessions
} from "@weft/core/adapter"
import { Effect, type Layer, Queue, type Scope } from "effect"
import type { SqlError } from "effect/sql"
import { toArrayParameter } from "./Numbers.ts"
import { connectionConfig } from "./PostgresClient.ts"
import { type PostgresOptions, PostgresUnusable, type Resolved, resolve } from "./PostgresOptions.ts"

/** Maximum payload in bytes. PostgreSQL requires less than 8,000. */
const textBytesMax = 7_999

/**
 * Connects nodes with the same database and schema. A connection pooler in between must use session mode, as `LISTEN`
 * needs it. Reconnects without a limit after an outage of the database.
 */
export const cluster = (options: PostgresOptions): Layer.Layer<ClusterBus, ClusterUnusable> =>
  sharedClusterBus(
    Effect.suspend(() => {
      const resolved = resolve(options)
      return resolved instanceof PostgresUnusable
        ? Effect.fail(new ClusterUnusable({ reason: resolved.reason, cause: resolved }))
        : transportSessions(Effect.mapError(open(resolved), unusable), textBytesMax)
    })
  )

const open = Effect.fnUntraced(function* (
  resolved: Resolved
): Effect.fn.Return<TransportSession, SqlError.SqlError, Scope.Scope> {
  const channel = toChannel(resolved)
  const connection = yield* Effect.flatMap(PgConnection.make(toConfig(resolved)), ({ pin }) => pin)
  const notifications = yield* connection.listen(channel)
  return {
    take: Effect.map(Queue.takeAll(notifications), (some) => some.map(({ payload }) => payload)),
    send: (texts) =>
      Effect.suspend(() => {
        const parameter = toArrayParameter(texts, PgTypes.OID.text)
        return Effect.asVoid(connection.query(notify, [channel, parameter]))
      })
  }
})

/** Notifications do not survive a crash of the server, so commits need not wait for the disk. */
const toConfig = (resolved: Resolved): PgConnection.Config => {
  const config = connectionConfig(resolved)
  return { ...config, startupParameters: { ...config.startupParameters, synchronous_commit: "off" } }
}

/** Returns the channel of the schema. Several installations may share a database. */
export const toChannel = ({ schema }: Pick<Resolved, "schema">): string => `weft_feed_${schema}`

const notify = "SELECT pg_notify($1, text) FROM unnest($2::text[]) WITH ORDINALITY AS t (text, place) ORDER BY place"

const unusable = (error: SqlError.SqlError): ClusterUnusable => {
  const { cause } = error.reason
  return new ClusterUnusable({ reason: cause instanceof Error ? cause.message : error.message, cause: error })
}
