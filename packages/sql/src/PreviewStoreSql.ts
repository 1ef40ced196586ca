/** `PreviewStore` on SQL. */
import { NotFound } from "@weft/core"
import { Preview, type PreviewLimits, type PreviewParts, PreviewStore, type Timestamp } from "@weft/core/adapter"
import { Effect, Layer, Struct } from "effect"
import { Database, onlyRow, orUnavailable, type RowOf, readCount } from "./Database.ts"
import { makePreviewPurge } from "./PreviewPurge.ts"
import { toEnvRow } from "./rows/EnvRows.ts"

export const layer: Layer.Layer<PreviewStore, never, Database> = Layer.effect(
  PreviewStore,
  Effect.gen(function* () {
    const database = yield* Database
    const { dialect, reader, writer } = database
    const { purge, forget } = makePreviewPurge(database)

    /** Inserts all rows in the caller's transaction. The lock makes the counts those of the moment of the insertion. */
    const insert = Effect.fnUntraced(function* (
      { preview, env, project }: PreviewParts,
      { ofEnv, ofProject }: PreviewLimits
    ) {
      yield* dialect.advisoryLock(writer, [`previews ${preview.parent_env_id}`])
      const active = yield* writer<Pick<Preview, "name" | "project_id">>`SELECT name, project_id FROM previews
        WHERE parent_env_id = ${preview.parent_env_id} AND removed_at IS NULL`
      const refusal = findRefusal(active, preview, { ofEnv, ofProject })
      if (refusal !== null) return refusal
      yield* writer`INSERT INTO envs ${writer.insert(toEnvRow(env))}`
      yield* writer`INSERT INTO projects ${writer.insert({ ...project, active: 1 })}`
      const flags = { schedules: preview.schedules ? 1 : 0, copy_events: preview.copy_events ? 1 : 0 }
      const row = { ...preview, ...flags, removed_at: null, due_at: preview.expires_at }
      yield* writer`INSERT INTO previews ${writer.insert(row)}`
      return "Stored" as const
    })

    const remove = Effect.fnUntraced(function* (
      { env_id, parent_env_id }: Pick<Preview, "env_id" | "parent_env_id">,
      at: Timestamp,
      dueAt: Timestamp
    ) {
      yield* onlyRow(
        writer`UPDATE previews SET removed_at = ${at}, due_at = ${dueAt}
          WHERE env_id = ${env_id} AND parent_env_id = ${parent_env_id} AND removed_at IS NULL RETURNING env_id`,
        notFound
      )
      yield* writer`UPDATE envs SET active = 0, name = ${`~${env_id}`} WHERE env_id = ${env_id}`
    })

    return PreviewStore.of({
      insert: (parts, limits) => writer.withTransaction(insert(parts, limits)).pipe(orUnavailable("insert")),

      get: (parentEnvId, name) =>
        onlyRow(
          reader<Row>`SELECT ${reader.literal(columns)} FROM previews
            WHERE parent_env_id = ${parentEnvId} AND name = ${name} AND removed_at IS NULL`,
          notFound
        ).pipe(Effect.map(toPreview), orUnavailable("get")),

      list: (parentEnvId, projectId, { limit, offset }) => {
        const listed = reader`parent_env_id = ${parentEnvId} AND project_id = ${projectId} AND removed_at IS NULL`
        return Effect.all({
          items: Effect.map(
            reader<Row>`SELECT ${reader.literal(columns)} FROM previews WHERE ${listed}
              ORDER BY env_id DESC LIMIT ${limit} OFFSET ${offset}`,
            (rows) => rows.map(toPreview)
          ),
          total: readCount(reader<{ n: number }>`SELECT count(*) AS n FROM previews WHERE ${listed}`)
        }).pipe(orUnavailable("list"))
      },

      update: ({ env_id, parent_env_id, build_id, schedules, copy_events, secrets, updated_at, expires_at }) => {
        const flags = { schedules: schedules ? 1 : 0, copy_events: copy_events ? 1 : 0 }
        const change = { build_id, ...flags, secrets, updated_at, expires_at, due_at: expires_at }
        return onlyRow(
          writer`UPDATE previews SET ${writer.update(change)}
            WHERE env_id = ${env_id} AND parent_env_id = ${parent_env_id} AND removed_at IS NULL RETURNING env_id`,
          notFound
        ).pipe(Effect.asVoid, orUnavailable("update"))
      },

      remove: (preview, at, dueAt) =>
        writer.withTransaction(remove(preview, at, dueAt)).pipe(Effect.asVoid, orUnavailable("remove")),

      due: (which, now, limit) => {
        const isWanted = reader.literal(which === "expired" ? "removed_at IS NULL" : "removed_at IS NOT NULL")
        return reader<Row>`SELECT ${reader.literal(columns)} FROM previews
          WHERE due_at <= ${now} AND ${isWanted} ORDER BY due_at, env_id LIMIT ${limit}`.pipe(
          Effect.map((rows) => rows.map(toPreview)),
          orUnavailable("due")
        )
      },

      postpone: (envId, dueAt) =>
        writer`UPDATE previews SET due_at = ${dueAt} WHERE env_id = ${envId} AND removed_at IS NOT NULL`.pipe(
          Effect.asVoid,
          orUnavailable("postpone")
        ),

      purge: (envId, now, limit) => purge(envId, now, limit).pipe(orUnavailable("purge")),
      forget: (preview) => writer.withTransaction(forget(preview)).pipe(orUnavailable("forget"))
    })
  })
)

type Row = RowOf<Preview, "schedules" | "copy_events">

/** SQL of the columns of a preview. */
const columns = Struct.keys(Preview.fields).join(", ")

const notFound = new NotFound({ resource: "preview" })

const toPreview = (row: Row): Preview => ({
  ...row,
  schedules: row.schedules === 1,
  copy_events: row.copy_events === 1
})

/** Returns the reason not to store the preview next to the active ones, or null. */
const findRefusal = (
  active: ReadonlyArray<Pick<Preview, "name" | "project_id">>,
  preview: Preview,
  { ofEnv, ofProject }: PreviewLimits
): "NameTaken" | "OverEnvLimit" | "OverProjectLimit" | null => {
  if (active.some(({ name }) => name === preview.name)) return "NameTaken"
  if (ofEnv !== -1 && active.length >= ofEnv) return "OverEnvLimit"
  const ofSame = active.filter(({ project_id }) => project_id === preview.project_id)
  return ofProject !== -1 && ofSame.length >= ofProject ? "OverProjectLimit" : null
}
