/** `WorkflowTokenStore` on SQL. */
import {
  type DeliveryId,
  formatCompletion,
  isOpen,
  type JsonText,
  parkedAt,
  type RunRef,
  type Timestamp,
  type TokenRef,
  WorkflowToken,
  WorkflowTokenStore
} from "@weft/core/adapter"
import { Effect, Layer, Struct } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { Database, orUnavailable } from "./Database.ts"
import { isRunning } from "./StatementText.ts"
import { workflowStatements } from "./WorkflowStatements.ts"

const fields = Struct.keys(WorkflowToken.fields)

/** SQL of the columns of the token `t` and of the state of its run. */
const found = `${fields.map((field) => `t.${field}`).join(", ")}, CASE WHEN EXISTS (SELECT 1 FROM runs r
  WHERE r.env_id = t.env_id AND r.run_id = t.run_id AND ${isRunning("r")}) THEN 1 ELSE 0 END AS running`

interface FoundRow extends WorkflowToken {
  readonly running: number
}

export const layer: Layer.Layer<WorkflowTokenStore, never, Database> = Layer.effect(
  WorkflowTokenStore,
  Effect.gen(function* () {
    const database = yield* Database
    const { reader, writer } = database
    const { lockHolder } = workflowStatements(database)
    const complete = makeComplete(database)

    /** Reads tokens with what has been committed until now. */
    const read = (sql: SqlClient.SqlClient, where: Statement.Fragment) =>
      sql<WorkflowToken>`SELECT ${sql.literal(fields.join(", "))} FROM workflow_tokens WHERE ${where}`

    const findOne = (where: Statement.Fragment) =>
      Effect.map(
        reader<FoundRow>`SELECT ${reader.literal(found)} FROM workflow_tokens t
          WHERE ${where} ORDER BY t.seq DESC LIMIT 1`,
        ([row]) => (row === undefined ? null : toFound(row))
      )

    const create = Effect.fnUntraced(function* (token: WorkflowToken, deliveryId: DeliveryId) {
      if (!(yield* lockHolder(token, deliveryId))) return null
      yield* writer`INSERT INTO workflow_tokens ${writer.insert({ ...token })} ON CONFLICT (env_id, run_id, seq) DO NOTHING`
      const [stored] = yield* read(writer, isToken(writer, token))
      return stored ?? null
    })

    const expire = Effect.fnUntraced(function* (ref: TokenRef) {
      yield* writer`UPDATE workflow_tokens SET state = 'expired' WHERE ${isToken(writer, ref)} AND state = 'pending'`
      const [stored] = yield* read(writer, isToken(writer, ref))
      return stored ?? null
    })

    return WorkflowTokenStore.of({
      create: (token, deliveryId) => writer.withTransaction(create(token, deliveryId)).pipe(orUnavailable("create")),

      list: (run) => read(reader, reader`${isOfRun(reader, run)} ORDER BY seq`).pipe(orUnavailable("list")),

      get: (ref) =>
        Effect.map(read(reader, isToken(reader, ref)), ([token]) => token ?? null).pipe(orUnavailable("get")),

      find: (hash) => findOne(reader`t.token_hash = ${hash}`).pipe(orUnavailable("find")),

      findNamed: ({ env_id, run_id }, name) =>
        findOne(reader`t.env_id = ${env_id} AND t.run_id = ${run_id} AND t.name = ${name}`).pipe(
          orUnavailable("findNamed")
        ),

      complete: (ref, data, at) => writer.withTransaction(complete(ref, data, at)).pipe(orUnavailable("complete")),

      expire: (ref) => writer.withTransaction(expire(ref)).pipe(orUnavailable("expire"))
    })
  })
)

const toFound = ({ running, ...token }: FoundRow) => ({ token, isRunning: running === 1 })

const isOfRun = (sql: SqlClient.SqlClient, { env_id, run_id }: RunRef): Statement.Fragment =>
  sql`env_id = ${env_id} AND run_id = ${run_id}`

const isToken = (sql: SqlClient.SqlClient, ref: TokenRef): Statement.Fragment =>
  sql`${isOfRun(sql, ref)} AND seq = ${ref.seq}`

/**
 * Returns the transaction that completes a token.
 *
 * The token is locked first, so that one of several completions wins, or the expiry. The lock of the run makes its end and
 * new waits precede or follow the whole transaction. A suspension locks waits before its run, so the waits are locked
 * first, and again afterwards for those that were stored meanwhile.
 */
const makeComplete = ({ dialect, writer: sql }: Database["Service"]) => {
  const lock = sql.literal(dialect.forUpdate())

  const lockWaits = (ref: TokenRef) =>
    sql<{ readonly seq: number }>`SELECT seq FROM workflow_waits WHERE ${isOfRun(sql, ref)} AND token_seq = ${ref.seq}
      AND outcome IS NULL ORDER BY seq${lock}`

  const lockRun = (ref: TokenRef) =>
    Effect.map(
      sql`SELECT 1 FROM runs WHERE ${isOfRun(sql, ref)} AND ${sql.literal(isRunning("runs"))}${lock}`,
      (rows) => rows.length > 0
    )

  return Effect.fnUntraced(function* (ref: TokenRef, data: JsonText, at: Timestamp) {
    const [token] = yield* sql<WorkflowToken>`
      SELECT ${sql.literal(fields.join(", "))} FROM workflow_tokens WHERE ${isToken(sql, ref)}${lock}`
    if (token === undefined) return null
    yield* lockWaits(ref)
    const isRunning = yield* lockRun(ref)
    if (!isOpen(token, isRunning, at)) return { token, isRunning, isNew: false }
    const completed = { ...token, state: "completed", completed_at: at, result: data } as const
    const { state, completed_at, result } = completed
    yield* sql`UPDATE workflow_tokens SET ${sql.update({ state, completed_at, result })} WHERE ${isToken(sql, ref)}`
    const waits = yield* lockWaits(ref)
    if (waits.length > 0) {
      yield* sql`UPDATE workflow_waits SET outcome = ${formatCompletion(data)}
        WHERE ${isOfRun(sql, ref)} AND token_seq = ${ref.seq} AND outcome IS NULL`
      yield* sql`UPDATE deliveries SET due_at = ${at} WHERE (env_id, due_at, delivery_id) IN (
        SELECT env_id, due_at, delivery_id FROM deliveries WHERE env_id = ${ref.env_id} AND continues = ${ref.run_id}
          AND due_at > ${at} AND due_at <> ${parkedAt}${lock})`
    }
    return { token: completed, isRunning, isNew: true }
  })
}
