/** `PauseStore` on SQL. */
import { type EnvId, NotFound } from "@weft/core"
import {
  covers,
  type Delivery,
  type DeliveryId,
  formatTarget,
  type Pause,
  type PausedRuns,
  type PauseId,
  PauseStore,
  pausedAt,
  type Timestamp
} from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { Database, onlyRow, orUnavailable } from "./Database.ts"

export const layer: Layer.Layer<PauseStore, never, Database> = Layer.effect(
  PauseStore,
  Effect.gen(function* () {
    const { dialect, reader, writer } = yield* Database
    const columns = (sql: typeof reader) => sql.literal(pauseColumns)

    const resume = Effect.fnUntraced(function* (envId: EnvId, id: PauseId, at: Timestamp) {
      // A claim that is holding deliveries has locked this row.
      const ended = yield* onlyRow(
        writer<Pause>`UPDATE pauses SET resumed_at = ${at}, changed_at = ${at}
          WHERE env_id = ${envId} AND pause_id = ${id} AND resumed_at IS NULL RETURNING ${columns(writer)}`,
        new NotFound({ resource: "pause" })
      )
      yield* writer`UPDATE schedules SET due_at = ${at}
        WHERE env_id = ${envId} AND due_at > ${at} AND next_at <= ${at}`
      return ended
    })

    const release = Effect.fnUntraced(function* (
      envId: EnvId,
      after: DeliveryId | null,
      limit: number,
      now: Timestamp
    ) {
      const examined = yield* writer<Pick<Delivery, "env_id" | "delivery_id" | "project_id" | "ns" | "var">>`
        SELECT env_id, delivery_id, project_id, ns, var FROM deliveries
        WHERE env_id = ${envId} AND due_at = ${pausedAt} AND delivery_id > ${after ?? ""}
        ORDER BY delivery_id LIMIT ${limit}${writer.literal(dialect.forUpdate())}`
      const pauses = yield* writer<Pause>`SELECT ${columns(writer)} FROM pauses
        WHERE env_id = ${envId} AND resumed_at IS NULL`
      const free = examined.filter((delivery) => !pauses.some((pause) => covers(pause, delivery)))
      const ids = dialect.among(
        writer,
        free.map(({ delivery_id }) => delivery_id)
      )
      if (free.length > 0)
        yield* writer`UPDATE deliveries SET due_at = ${now}, held_since = NULL
          WHERE env_id = ${envId} AND due_at = ${pausedAt} AND delivery_id ${ids}`
      const last = examined.at(-1)
      return { released: free.length, next: examined.length < limit || last === undefined ? null : last.delivery_id }
    })

    return PauseStore.of({
      pause: (pause) =>
        writer<Pause>`INSERT INTO pauses ${writer.insert({ ...pause, target: formatTarget(pause) })}
          ON CONFLICT (env_id, target) WHERE resumed_at IS NULL
          DO UPDATE SET schedules = excluded.schedules, changed_at = excluded.changed_at
          RETURNING ${columns(writer)}`.pipe(
          Effect.map(([stored]) => stored ?? pause),
          orUnavailable("pause")
        ),

      resume: (envId, id, at) => writer.withTransaction(resume(envId, id, at)).pipe(orUnavailable("resume")),

      active: (envId) =>
        reader<Pause>`SELECT ${columns(reader)} FROM pauses WHERE env_id = ${envId} AND resumed_at IS NULL
          ORDER BY pause_id DESC`.pipe(orUnavailable("active")),

      countRuns: ({ env_id, project_id, ns, var: name }) => {
        // A literal, so that the planner matches the partial index of running runs.
        const terms: Array<Statement.Fragment> = [reader`env_id = ${env_id}`, reader.literal("status = 'running'")]
        if (project_id !== null) terms.push(reader`project_id = ${project_id}`)
        if (ns !== null) terms.push(reader`ns = ${ns} AND var = ${name}`)
        return reader<PausedRuns>`SELECT count(CASE WHEN waiting IS NULL THEN 1 END) AS executing,
            count(CASE WHEN waiting IS NOT NULL THEN 1 END) AS suspended
          FROM runs WHERE ${reader.and(terms)}`.pipe(
          Effect.map(([counts]) => counts ?? { executing: 0, suspended: 0 }),
          orUnavailable("countRuns")
        )
      },

      // Read by the writer: a node must know a pause when its own request returns.
      all: writer<Pause>`SELECT ${columns(writer)} FROM pauses`.pipe(orUnavailable("all")),

      release: (envId, after, limit, now) =>
        writer.withTransaction(release(envId, after, limit, now)).pipe(orUnavailable("release")),

      forget: (envId, id) =>
        writer`DELETE FROM pauses WHERE env_id = ${envId} AND pause_id = ${id} AND resumed_at IS NOT NULL`.pipe(
          Effect.asVoid,
          orUnavailable("forget")
        )
    })
  })
)

const pauseColumns =
  "env_id, pause_id, project_id, project_name, ns, var, schedules, paused_at, paused_by, resumed_at, changed_at"
