/** `AlertStore` on SQL. A rule is one JSON text; other columns are those of conditions. */
import { NotFound } from "@weft/core"
import { Alert, AlertStore, type Timestamp } from "@weft/core/adapter"
import { Effect, Layer, Schema } from "effect"
import type { Statement } from "effect/sql"
import { Database, onlyRow, orUnavailable } from "./Database.ts"

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Alert))
const encode = Schema.encodeSync(Schema.fromJsonString(Alert))

interface Row {
  readonly record: string
  readonly due_at: Timestamp
}

const toRow = (alert: Alert) => {
  const { env_id, alert_id, project_id, enabled, due_at } = alert
  return { env_id, alert_id, project_id, enabled: enabled ? 1 : 0, due_at, record: encode(alert) }
}

/** The column has the time of a claim, which does not write the record. */
const toAlert = ({ record, due_at }: Row) =>
  Effect.orDie(Effect.map(decode(record), (alert): Alert => ({ ...alert, due_at })))

const notFound = new NotFound({ resource: "alert" })

export const layer: Layer.Layer<AlertStore, never, Database> = Layer.effect(
  AlertStore,
  Effect.gen(function* () {
    const { dialect, reader, writer } = yield* Database

    return AlertStore.of({
      insert: (alert) =>
        writer`INSERT INTO alert_rules ${writer.insert(toRow(alert))}`.pipe(Effect.asVoid, orUnavailable("insert")),

      // Read by the writer: a change compares the fence that it has read.
      get: (envId, id) =>
        onlyRow(
          writer<Row>`SELECT record, due_at FROM alert_rules WHERE env_id = ${envId} AND alert_id = ${id}`,
          notFound
        ).pipe(Effect.flatMap(toAlert), orUnavailable("get")),

      all: (envId) =>
        reader<Row>`SELECT record, due_at FROM alert_rules WHERE env_id = ${envId} ORDER BY alert_id DESC`.pipe(
          Effect.flatMap(Effect.forEach(toAlert)),
          orUnavailable("all")
        ),

      replace: (alert, fence) => {
        const { env_id, alert_id, enabled, due_at, record } = toRow(alert)
        return writer`UPDATE alert_rules SET enabled = ${enabled}, due_at = ${due_at}, record = ${record}
          WHERE env_id = ${env_id} AND alert_id = ${alert_id} AND due_at = ${fence} RETURNING alert_id`.pipe(
          Effect.map(({ length }) => length === 1),
          orUnavailable("replace")
        )
      },

      remove: (envId, id) =>
        onlyRow(
          writer`DELETE FROM alert_rules WHERE env_id = ${envId} AND alert_id = ${id} RETURNING alert_id`,
          notFound
        ).pipe(Effect.asVoid, orUnavailable("remove")),

      claim: (now, until, limit) =>
        writer<Row>`WITH due AS MATERIALIZED (
            SELECT env_id, alert_id FROM alert_rules WHERE enabled = 1 AND due_at <= ${now}
            ORDER BY due_at, alert_id LIMIT ${limit}${writer.literal(dialect.skipLocked)}
          )
          UPDATE alert_rules SET due_at = ${until}
          WHERE (env_id, alert_id) IN (SELECT env_id, alert_id FROM due) RETURNING record, due_at`.pipe(
          Effect.flatMap(Effect.forEach(toAlert)),
          orUnavailable("claim")
        ),

      backlog: ({ env_id, project_id, ns, var: name }, now, limit) => {
        const terms: Array<Statement.Fragment> = [reader`env_id = ${env_id} AND coalesce(held_since, due_at) <= ${now}`]
        if (project_id !== null) terms.push(reader`project_id = ${project_id}`)
        if (ns !== null) terms.push(reader`ns = ${ns} AND var = ${name}`)
        return reader<{ readonly n: number; readonly oldest: Timestamp | null }>`
          SELECT count(*) AS n, min(since) AS oldest FROM (
            SELECT coalesce(held_since, due_at) AS since FROM deliveries WHERE ${reader.and(terms)} LIMIT ${limit}
          ) AS waiting`.pipe(
          Effect.map(([row]) => ({ deliveries: row?.n ?? 0, oldest: row?.oldest ?? null })),
          orUnavailable("backlog")
        )
      }
    })
  })
)
