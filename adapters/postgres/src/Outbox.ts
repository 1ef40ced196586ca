/**
 * Publishing in the host's own transaction: the event is there, and is handled, if and only if the host commits.
 *
 * The statements are sent on the host's connection, within a savepoint: where publishing fails, the transaction can go on
 * as if nobody had tried. Nodes hear of the event from the server when the host commits, if they have the `feed` of this
 * adapter; others find it when they look, within a minute.
 */
import { PgClient } from "@effect/sql-pg"
import {
  type BadRequest,
  Caller,
  type EnvId,
  type Event,
  Feed,
  type Forbidden,
  type HostEvent,
  HostTransactions,
  hostEvent,
  hostIdentity,
  inHostSpan,
  type NewEvent,
  type NotFound,
  type PlanRequired,
  type StoreUnavailable,
  type WeftInstance
} from "@weft/core"
import { Database, hostAdmissions } from "@weft/sql"
import { Effect, Option, Schema, Semaphore } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection } from "effect/sql"
import { connectionBy, type HostConnection, type Query, queryOfEffect, queryOfHost } from "./HostConnection.ts"
import { postgres } from "./PostgresDialect.ts"
import { channelOf } from "./PostgresFeed.ts"
import { codeOf } from "./Troubles.ts"

export interface OutboxOptions {
  /** The schema that has Weft's tables, as in `PostgresOptions`. */
  readonly schema?: string
}

export type OutboxEvent = Omit<NewEvent, "causedBy" | "newStream">

export interface Outbox {
  /**
   * Publishes an event in the environment with the rights of the host, by the rules of `events.publish`, in the
   * transaction that is open on the connection. Rejects with the errors of `events.publish`, or `TransactionUnusable`;
   * then the transaction is as it was before. Calls for one connection wait for each other.
   */
  readonly publish: (connection: HostConnection, envId: EnvId, event: OutboxEvent) => Promise<HostEvent>
  /** For nodes without the `feed` of this adapter: has them look for what was committed. */
  readonly wake: () => Promise<void>
}

/** The database did not take the event as a part of the transaction, which is as it was before, if it still is open. */
export class TransactionUnusable extends Schema.TaggedError<TransactionUnusable>()("TransactionUnusable", {
  reason: Schema.String,
  /** The driver's error. */
  cause: Schema.Defect()
}) {
  override get message(): string {
    return `The event cannot be published in this transaction: ${this.reason}`
  }
}

type PublishError = TransactionUnusable | Forbidden | BadRequest | PlanRequired | NotFound | StoreUnavailable

/** For hosts without Effect. `weft` must have its stores in the database of the connections. */
export const outbox = ({ runtime }: WeftInstance, options: OutboxOptions = {}): Outbox => ({
  publish: (connection, envId, event) =>
    runtime.runPromise(
      inHostSpan(Effect.map(alone(connection, publishOn(queryOfHost(connection), envId, event, options)), hostEvent))
    ),
  wake: () => runtime.runPromise(Feed.use((feed) => feed.tell([{ type: "deliveries:waiting", node_id: null }])))
})

/** As `Outbox.publish`, in the transaction of `sql`, of `@effect/sql-pg`, that is open where it is called. */
export const publishIn = (
  sql: SqlClient.SqlClient,
  envId: EnvId,
  event: OutboxEvent,
  options: OutboxOptions = {}
): Effect.Effect<Event, PublishError, HostTransactions> =>
  Effect.flatMap(Effect.serviceOption(sql.transactionService), (transaction) => {
    if (Option.isNone(transaction)) {
      return Effect.fail(new TransactionUnusable({ reason: notOpen, cause: new Error("There is no withTransaction") }))
    }
    const [connection] = transaction.value
    return alone(connection, publishOn(queryOfEffect(connection), envId, event, options))
  })

const publishOn = (
  query: Query,
  envId: EnvId,
  event: OutboxEvent,
  { schema = "weft" }: OutboxOptions
): Effect.Effect<Event, PublishError, HostTransactions> =>
  Effect.suspend(() => {
    const failures: Array<unknown> = []
    const connection = connectionBy(query, (error) => failures.push(error))
    return Effect.catchCause(
      publishAs(connection, envId, event, schema),
      (cause): Effect.Effect<never, PublishError> => {
        // However the stores took it: the first failure of the connection is why.
        const [first] = failures
        return failures.length === 0
          ? Effect.failCause(cause)
          : Effect.fail(new TransactionUnusable({ reason: reasonOf(first, schema), cause: first }))
      }
    )
    // Half of it would leave the savepoint open, and the settings changed.
  }).pipe(Effect.uninterruptible)

const publishAs = Effect.fnUntraced(function* (
  connection: SqlConnection.Connection,
  envId: EnvId,
  event: OutboxEvent,
  schema: string
) {
  const transactions = yield* HostTransactions
  const sql = yield* clientOn(connection)
  const admissions = hostAdmissions(Database.of({ dialect: postgres, writer: sql, reader: sql, exclusive: false }))

  const publish = Effect.gen(function* () {
    const [before] = yield* sql<{ path: string }>`
        SELECT current_setting('search_path') AS path, set_config('search_path', ${schema}, true) AS now`
    const published = yield* transactions.publish(admissions, event)
    if (published.text !== null) yield* sql`SELECT pg_notify(${channelOf({ schema })}, ${published.text})`
    yield* sql`SELECT set_config('search_path', ${before?.path ?? ""}, true)`
    return published.event
  })
  return yield* sql
    .withTransaction(publish)
    .pipe(Effect.provideService(Caller, hostIdentity(envId)), Effect.catchTag("SqlError", Effect.die))
})

const clientOn = (connection: SqlConnection.Connection) =>
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

const notOpen = "none is open on this connection. Begin one, and hand over its connection, not a pool"

const reasonOf = (error: unknown, schema: string): string => {
  switch (codeOf(error)) {
    case "25P01":
      return notOpen
    case "25P02":
      return "a statement of it has failed before, and the database takes no further ones"
    case "3F000":
    case "42P01":
      return `there are no tables of Weft in the schema ${schema} of its database, or none that its role may use`
    default:
      return error instanceof Error ? error.message : String(error)
  }
}

const turns = new WeakMap<object, Semaphore.Semaphore>()

/** Savepoints of one connection must not overlap. */
const alone = <A, E, R>(connection: object, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  const turn = turns.get(connection) ?? Semaphore.makeUnsafe(1)
  turns.set(connection, turn)
  return turn.withPermit(effect)
}
