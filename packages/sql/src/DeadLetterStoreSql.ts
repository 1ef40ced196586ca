/** `DeadLetterStore` on SQL. */
import type { EnvId } from "@weft/core"
import {
  type DeadLetter,
  type DeadLetterFilter,
  type DeadLetterRef,
  DeadLetterStore,
  listedResultMax
} from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { Database, orUnavailable, readCount, repeatConflicts } from "./Database.ts"
import { makeStartLetters, makeUnmark } from "./DeadLetterMarks.ts"
import type { Dialect } from "./Dialect.ts"
import { journalStatements } from "./JournalStatements.ts"

export const layer: Layer.Layer<DeadLetterStore, never, Database> = Layer.effect(
  DeadLetterStore,
  Effect.gen(function* () {
    const database = yield* Database
    const { dialect, reader, writer: sql } = database
    const unmark = makeUnmark(database)
    const startLetters = makeStartLetters(database, journalStatements(database))

    return DeadLetterStore.of({
      list: (envId, { limit, offset }, filter) =>
        reader<DeadLetter>`
          SELECT ${reader.literal(refColumns)}, r.stream_id, r.status, r.start_time, r.attempt,
            CASE WHEN octet_length(r.result) <= ${listedResultMax} THEN r.result END AS result,
            coalesce(${eventTypeOf(reader)}, '') AS event_type
          FROM runs r WHERE ${toCondition(reader, dialect, envId, filter)}
          ORDER BY r.dead_since DESC, r.run_id DESC LIMIT ${limit} OFFSET ${offset}`.pipe(orUnavailable("list")),

      count: (envId, filter, limit) =>
        readCount(
          reader<{ n: number }>`SELECT count(*) AS n FROM (
            SELECT 1 FROM runs r WHERE ${toCondition(reader, dialect, envId, filter)} LIMIT ${limit}
          ) AS counted`
        ).pipe(orUnavailable("count")),

      after: (envId, filter, position, limit) => {
        const rest =
          position === null
            ? reader`1 = 1`
            : reader`(r.dead_since, r.run_id) > (${position.dead_since}, ${position.run_id})`
        return reader<DeadLetterRef>`
          SELECT ${reader.literal(refColumns)} FROM runs r
          WHERE ${toCondition(reader, dialect, envId, filter)} AND ${rest}
          ORDER BY r.dead_since, r.run_id LIMIT ${limit}`.pipe(orUnavailable("after"))
      },

      redrive: (envId, redrives) =>
        sql.withTransaction(startLetters(envId, redrives)).pipe(repeatConflicts, orUnavailable("redrive")),

      discard: (envId, runIds) =>
        sql.withTransaction(unmark(envId, runIds)).pipe(repeatConflicts, orUnavailable("discard"))
    })
  })
)

const refColumns = `r.env_id, r.run_id, r.event_id, r.project_id, r.project_name, r.build_id, r.ns, r.var, r.run_type,
  r.activations, r.dead_since`

/** The event type of a letter. A join could make a planner without statistics read all events first. */
const eventTypeOf = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql`(SELECT e.event_type FROM events e WHERE e.env_id = r.env_id AND e.event_id = r.event_id)`

const toCondition = (
  sql: SqlClient.SqlClient,
  dialect: Dialect,
  envId: EnvId,
  { only, project, functions = [], eventType, since, until, runIds }: DeadLetterFilter
): Statement.Fragment => {
  const terms: Array<Statement.Fragment> = [sql`r.env_id = ${envId} AND r.dead_since IS NOT NULL`]
  if (only !== undefined) {
    const among = dialect.among(sql, only)
    terms.push(sql`(r.project_id ${among} OR r.project_name ${among})`)
  }
  if (project !== undefined) terms.push(sql`(r.project_id = ${project} OR r.project_name = ${project})`)
  for (const list of functions) {
    const among = dialect.among(sql, list)
    terms.push(sql`(r.ns || '/' || r.var ${among} OR r.project_name || ':' || r.ns || '/' || r.var ${among})`)
  }
  if (eventType !== undefined) terms.push(sql`${eventTypeOf(sql)} = ${eventType}`)
  if (since !== undefined) terms.push(sql`r.dead_since >= ${since}`)
  if (until !== undefined) terms.push(sql`r.dead_since < ${until}`)
  if (runIds !== undefined) terms.push(sql`r.run_id ${dialect.among(sql, runIds)}`)
  return sql.and(terms)
}
