/** `ProjectStore` on SQL. */
import { type EnvId, NotFound, Taken } from "@weft/core"
import {
  artifactKey,
  type Build,
  Project,
  type ProjectId,
  ProjectStore,
  type RemovedProject,
  type Timestamp
} from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import { Database, onConflict, onlyRow, orUnavailable, type RowOf, readCount } from "./Database.ts"

export const layer: Layer.Layer<ProjectStore, never, Database> = Layer.effect(
  ProjectStore,
  Effect.gen(function* () {
    const { dialect, reader, writer } = yield* Database

    const among = (names: ReadonlyArray<string>) => {
      const named = dialect.among(reader, names)
      return reader`(project_id ${named} OR name ${named})`
    }

    const remove = Effect.fnUntraced(function* (envId: EnvId, id: ProjectId, at: Timestamp) {
      const removed = writer`DELETE FROM projects WHERE project_id = ${id} AND env_id = ${envId} RETURNING project_id`
      yield* onlyRow(removed, notFound)
      const removal = { project_id: id, env_id: envId, removed_at: at, swept: 0 }
      yield* writer`INSERT INTO removed_projects ${writer.insert(removal)}
        ON CONFLICT (project_id) DO UPDATE SET removed_at = excluded.removed_at, swept = 0`
      yield* writer`UPDATE previews SET expires_at = ${at}, due_at = ${at}
        WHERE project_id = ${id} AND parent_env_id = ${envId} AND removed_at IS NULL`
      yield* writer`DELETE FROM endpoints WHERE project_id = ${id}`
      yield* writer`DELETE FROM deployments WHERE project_id = ${id}`
      yield* writer`DELETE FROM live_builds WHERE project_id = ${id}`
      yield* writer`DELETE FROM schedules WHERE project_id = ${id}`
      yield* writer`DELETE FROM alert_rules WHERE env_id = ${envId} AND project_id = ${id}`
      yield* writer`DELETE FROM run_series WHERE env_id = ${envId} AND project_id = ${id}`
      yield* writer`DELETE FROM canary_counts WHERE env_id = ${envId}
        AND canary_id IN (SELECT canary_id FROM canaries WHERE env_id = ${envId} AND project_id = ${id})`
      yield* writer`DELETE FROM canaries WHERE env_id = ${envId} AND project_id = ${id}`
      yield* writer`DELETE FROM pauses WHERE env_id = ${envId} AND project_id = ${id}`
      const builds = yield* writer<Pick<Build, "env_id" | "project_id" | "build_id" | "storage_path">>`
        DELETE FROM builds WHERE project_id = ${id} AND env_id = ${envId}
        RETURNING env_id, project_id, build_id, storage_path`
      const keys = builds.flatMap((build) => [build.storage_path, artifactKey(build)])
      for (const storage_path of keys) {
        yield* writer`INSERT INTO loose_bytes ${writer.insert({ storage_path, until: 0, taken: 0 })}
          ON CONFLICT DO NOTHING`
      }
      yield* writer`DELETE FROM context_variables WHERE project_id = ${id} AND env_id = ${envId}`
    })

    return ProjectStore.of({
      insert: (project) =>
        onlyRow(
          writer`INSERT INTO projects ${writer.insert({ ...project, active: project.active ? 1 : 0 })}
            ON CONFLICT DO NOTHING RETURNING project_id`,
          taken
        ).pipe(Effect.asVoid, orUnavailable("insert")),

      get: (envId, idOrName) =>
        onlyRow(
          reader<Row>`SELECT * FROM projects
            WHERE env_id = ${envId} AND (project_id = ${idOrName} OR name = ${idOrName})`,
          notFound
        ).pipe(Effect.map(toProject), orUnavailable("get")),

      list: (envId, { limit, offset }, only) => {
        const where = reader.and([reader`env_id = ${envId}`, ...(only === undefined ? [] : [among(only)])])
        return Effect.all({
          items: Effect.map(
            reader<Row>`SELECT * FROM projects WHERE ${where} ORDER BY project_id DESC LIMIT ${limit} OFFSET ${offset}`,
            (rows) => rows.map(toProject)
          ),
          total: readCount(reader<{ n: number }>`SELECT count(*) AS n FROM projects WHERE ${where}`)
        }).pipe(orUnavailable("list"))
      },

      update: ({ project_id, env_id, name, updated_at }) =>
        onlyRow(
          writer`UPDATE projects SET ${writer.update({ name, updated_at })}
            WHERE project_id = ${project_id} AND env_id = ${env_id} RETURNING project_id`,
          notFound
        ).pipe(onConflict(taken), Effect.asVoid, orUnavailable("update")),

      remove: (envId, id, at) => writer.withTransaction(remove(envId, id, at)).pipe(orUnavailable("remove")),

      removals: (after, limit) =>
        reader<RowOf<RemovedProject, "swept">>`
          SELECT project_id, env_id, removed_at, swept FROM removed_projects
          WHERE swept = 0 AND project_id > ${after ?? ""} ORDER BY project_id LIMIT ${limit}`.pipe(
          Effect.map((rows) => rows.map((row) => ({ ...row, swept: row.swept === 1 }))),
          orUnavailable("removals")
        ),

      markSwept: (id) =>
        writer`UPDATE removed_projects SET swept = 1 WHERE project_id = ${id}`.pipe(
          Effect.asVoid,
          orUnavailable("markSwept")
        ),

      forgetRemovals: (before) =>
        writer`DELETE FROM removed_projects WHERE swept = 1 AND removed_at < ${before}`.pipe(
          Effect.asVoid,
          orUnavailable("forgetRemovals")
        )
    })
  })
)

type Row = RowOf<Project, "active">

const notFound = new NotFound({ resource: "project" })
const taken = new Taken({ what: "project name" })

const toProject = (row: Row): Project => new Project({ ...row, active: row.active === 1 }, { disableChecks: true })
