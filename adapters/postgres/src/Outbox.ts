/**
 * Transactional outbox: publishes events in the host's own transaction. An event is stored, and handled, if and only if
 * the host commits.
 *
 * The statements run on the host's connection within a savepoint, so the transaction can continue after a failure.
 * Nodes with the `cluster` of this adapter receive a notification on commit. Other nodes find the event at their next
 * poll, within 60 s.
 */
import { PgClient } from "@effect/sql-pg"
import type {
  BadRequest,
  Forbidden,
  HostEvent,
  NotFound,
  PlanRequired,
  RateLimited,
  StoreUnavailable
} from "@weft/core"
import { Caller, EnvId, HostTransactions, hostIdentity, type NewEvent } from "@weft/core"
import { ClusterBus, type Event, inHostSpan } from "@weft/core/adapter"
import { findInstance, hostEvent } from "@weft/core/internal"
import { Database, hostAdmissions } from "@weft/sql"
import { Effect, Option, Schema, Semaphore } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection } from "effect/sql"
import { type HostConnection, makeConnection, makeEffectQuery, makeHostQuery, type Query } from "./HostConnection.ts"
import { toChannel } from "./PostgresCluster.ts"
import { postgres } from "./PostgresDialect.ts"
import { readSqlState } from "./PostgresErrors.ts"

export interface OutboxOptions {
  /** The schema with Weft's tables, as in `PostgresOptions`. */
  readonly schema?: string
}

export type OutboxEvent = Omit<NewEvent, "causedBy" | "newStream">

/** A Weft, as returned by `createWeft` or `start`. */
export interface OutboxHost {
  readonly close: () => Promise<void>
}

export interface Outbox {
  /**
   * Publishes an event with the permissions of the host in the open transaction of the connection. The rules are those
   * of `events.publish`. Rejects with the errors of `events.publish` or `TransactionUnusable`, and then leaves the
   * transaction unchanged. Calls for one connection are serialized.
   */
  readonly publish: (connection: HostConnection, envId: string, event: OutboxEvent) => Promise<HostEvent>
  /** For nodes without the `cluster` of this adapter: makes them poll for committed events. */
  readonly wake: () => Promise<void>
}

/** The database rejected the event. If the transaction is still open, it is unchanged. */
export class TransactionUnusable extends Schema.TaggedError<TransactionUnusable>()("TransactionUnusable", {
  reason: Schema.String,
  /** The driver's error. */
  cause: Schema.Defect()
}) {
  override get message(): string {
    return `Cannot publish the event in this transaction: ${this.reason}`
  }
}

type PublishError =
  | TransactionUnusable
  | Forbidden
  | BadRequest
  | PlanRequired
  | RateLimited
  | NotFound
  | StoreUnavailable

/**
 * Returns an outbox of a Weft that `createWeft` or `start` returned. Its stores must be in the database of the
 * connections. Throws a `TypeError` for any other object.
 */
export const outbox = (weft: OutboxHost, options: OutboxOptions = {}): Outbox => {
  const { runtime } = findInstance(weft)
  return {
    publish: (connection, envId, event) => {
      // An unknown id is reported as `NotFound`.
      const publish = publishOn(makeHostQuery(connection), EnvId.make(envId, { disableChecks: true }), event, options)
      return runtime.runPromise(inHostSpan(Effect.map(withConnectionLock(connection, publish), hostEvent)))
    },
    wake: () =>
      runtime.runPromise(ClusterBus.use((bus) => bus.sendControl([{ type: "deliveries:waiting", node_id: null }])))
  }
}

/** As `Outbox.publish`, in the current transaction of `sql`, a client of `@effect/sql-pg`. */
export const publishIn = (
  sql: SqlClient.SqlClient,
  envId: EnvId,
  event: OutboxEvent,
  options: OutboxOptions = {}
): Effect.Effect<Event, PublishError, HostTransactions> =>
  Effect.flatMap(Effect.serviceOption(sql.transactionService), (transaction) => {
    if (Option.isNone(transaction)) {
      return Effect.fail(
        new TransactionUnusable({ reason: notOpen, cause: new Error("publishIn was called outside withTransaction") })
      )
    }
    const [connection] = transaction.value
    return withConnectionLock(connection, publishOn(makeEffectQuery(connection), envId, event, options))
  })

const publishOn = (
  query: Query,
  envId: EnvId,
  event: OutboxEvent,
  { schema = "weft" }: OutboxOptions
): Effect.Effect<Event, PublishError, HostTransactions> =>
  Effect.suspend(() => {
    const failures: Array<unknown> = []
    const connection = makeConnection(query, (error) => failures.push(error))
    return Effect.catchCause(
      publishAs(connection, envId, event, schema),
      (cause): Effect.Effect<never, PublishError> => {
        // The first failure of the connection is the cause, whatever error the stores derived from it.
        const [first] = failures
        return failures.length === 0
          ? Effect.failCause(cause)
          : Effect.fail(new TransactionUnusable({ reason: toReason(first, schema), cause: first }))
      }
    )
    // An interruption would leave the savepoint open and the settings changed.
  }).pipe(Effect.uninterruptible)

const publishAs = Effect.fnUntraced(function* (
  connection: SqlConnection.Connection,
  envId: EnvId,
  event: OutboxEvent,
  schema: string
) {
  const transactions = yield* HostTransactions
  const sql = yield* makeClient(connection)
  const admissions = hostAdmissions(Database.of({ dialect: postgres, writer: sql, reader: sql, exclusive: false }))

  const publish = Effect.gen(function* () {
    const [before] = yield* sql<{ path: string }>`
        SELECT current_setting('search_path') AS path, set_config('search_path', ${schema}, true) AS now`
    const published = yield* transactions.publish(admissions, event)
    if (published.text !== null) yield* sql`SELECT pg_notify(${toChannel({ schema })}, ${published.text})`
    yield* sql`SELECT set_config('search_path', ${before?.path ?? ""}, true)`
    return published.event
  })
  return yield* sql
    .withTransaction(publish)
    .pipe(Effect.provideService(Caller, hostIdentity(envId)), Effect.catchTag("SqlError", Effect.die))
})

const makeClient = (connection: SqlConnection.Connection) =>
  SqlClient.make({
    acquirer: Effect.succeed(connection),
    compiler: PgClient.makeCompiler(),
    driver: "host",
    spanAttributes: [["db.system.name", "postgresql"]],
    beginTransaction: "SAVEPOINT weft",
    commit: "RELEASE SAVEPOINT weft",
    rollback: "ROLLBACK TO SAVEPOINT weft",
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`
  }).pipe(Effect.provide(Reactivity.layer))

const notOpen = "none is open on this connection. Begin one, and pass its connection, not a pool"

const toReason = (error: unknown, schema: string): string => {
  switch (readSqlState(error)) {
    case "25P01":
      return notOpen
    case "25P02":
      return "one of its statements has failed before, so the database rejects further ones"
    case "3F000":
    case "42P01":
      return `the schema ${schema} has no tables of Weft, or its role has no permission to use them`
    default:
      return error instanceof Error ? error.message : String(error)
  }
}

const connectionLocks = new WeakMap<object, Semaphore.Semaphore>()

/** Serializes calls per connection, because savepoints of one connection must not overlap. */
const withConnectionLock = <A, E, R>(connection: object, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  const lock = connectionLocks.get(connection) ?? Semaphore.makeUnsafe(1)
  connectionLocks.set(connection, lock)
  return lock.withPermit(effect)
}
