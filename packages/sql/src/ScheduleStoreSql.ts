/** `ScheduleStore` on SQL. */
import { type EnvId, NotFound } from "@weft/core"
import { type Schedule, ScheduleStore, type Timestamp } from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { Database, onlyRow, orUnavailable, readCount } from "./Database.ts"

export const layer: Layer.Layer<ScheduleStore, never, Database> = Layer.effect(
  ScheduleStore,
  Effect.gen(function* () {
    const { dialect, reader, writer } = yield* Database

    const ofEnv = (sql: SqlClient.SqlClient, envId: EnvId, only?: ReadonlyArray<string>): Statement.Fragment => {
      const terms: Array<Statement.Fragment> = [sql`env_id = ${envId}`]
      if (only !== undefined) {
        const among = dialect.among(sql, only)
        terms.push(sql`(project_id ${among} OR project_id IN (
          SELECT project_id FROM projects WHERE env_id = ${envId} AND name ${among}))`)
      }
      return sql.and(terms)
    }

    const dynamic = (sql: SqlClient.SqlClient, envId: EnvId, only?: ReadonlyArray<string>): Statement.Fragment =>
      sql.and([ofEnv(sql, envId, only), sql`kind = 'dynamic'`])

    return ScheduleStore.of({
      list: (envId, { limit, offset }, only) => {
        const where = dynamic(reader, envId, only)
        return Effect.all({
          items: reader<Schedule>`SELECT * FROM schedules WHERE ${where}
            ORDER BY schedule_id DESC LIMIT ${limit} OFFSET ${offset}`,
          total: readCount(reader<{ n: number }>`SELECT count(*) AS n FROM schedules WHERE ${where}`)
        }).pipe(orUnavailable("list"))
      },

      upcoming: (envId, { limit, offset }, only) => {
        const where = ofEnv(reader, envId, only)
        return Effect.all({
          items: reader<Schedule>`SELECT * FROM schedules WHERE ${where}
            ORDER BY due_at, schedule_id LIMIT ${limit} OFFSET ${offset}`,
          total: readCount(reader<{ n: number }>`SELECT count(*) AS n FROM schedules WHERE ${where}`)
        }).pipe(orUnavailable("upcoming"))
      },

      get: (envId, id) =>
        onlyRow(
          reader<Schedule>`SELECT * FROM schedules WHERE env_id = ${envId} AND schedule_id = ${id}`,
          new NotFound({ resource: "schedule" })
        ).pipe(orUnavailable("get")),

      remove: (envId, id, only) =>
        onlyRow(
          writer`DELETE FROM schedules WHERE schedule_id = ${id} AND ${dynamic(writer, envId, only)}
            RETURNING schedule_id`,
          new NotFound({ resource: "schedule" })
        ).pipe(Effect.asVoid, orUnavailable("remove")),

      due: (now, limit, exclude = []) => {
        // The index has all columns of the inner query, however many schedules of the excluded environments are due.
        const others = exclude.length === 0 ? reader`` : reader`AND env_id NOT IN (${dialect.texts(reader, exclude)})`
        return reader<Schedule>`SELECT * FROM schedules WHERE schedule_id IN (
            SELECT schedule_id FROM schedules WHERE due_at <= ${now} ${others} ORDER BY due_at, schedule_id LIMIT ${limit}
          ) ORDER BY due_at, schedule_id`.pipe(orUnavailable("due"))
      },

      dueOf: (envId, now, limit) =>
        reader<Schedule>`SELECT * FROM schedules WHERE env_id = ${envId} AND due_at <= ${now}
          ORDER BY due_at, schedule_id LIMIT ${limit}`.pipe(orUnavailable("dueOf")),

      nextDueAt: reader<{ due_at: Timestamp | null }>`SELECT min(due_at) AS due_at FROM schedules`.pipe(
        Effect.map(([row]) => row?.due_at ?? null),
        orUnavailable("nextDueAt")
      )
    })
  })
)
