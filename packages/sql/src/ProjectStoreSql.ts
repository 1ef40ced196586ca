/** `ProjectStore` on SQL. */
import { artifactKey, type Build, NotFound, Project, ProjectStore, Taken } from "@weft/core"
import { Effect, Layer } from "effect"
import { countOf, Database, onConflict, onlyRow, orUnavailable, type RowOf } from "./Database.ts"

export const layer: Layer.Layer<ProjectStore, never, Database> = Layer.effect(
  ProjectStore,
  Effect.gen(function* () {
    const { dialect, reader, writer } = yield* Database

    const among = (names: ReadonlyArray<string>) => {
      const texts = dialect.texts(reader, names)
      return reader`(project_id IN (${texts}) OR name IN (${texts}))`
    }

    const remove = Effect.fnUntraced(function* (envId: string, id: string) {
      const removed = writer`DELETE FROM projects WHERE project_id = ${id} AND env_id = ${envId} RETURNING project_id`
      yield* onlyRow(removed, notFound)
      yield* writer`DELETE FROM endpoints WHERE project_id = ${id}`
      yield* writer`DELETE FROM deployments WHERE project_id = ${id}`
      yield* writer`DELETE FROM live_builds WHERE project_id = ${id}`
      yield* writer`DELETE FROM schedules WHERE project_id = ${id}`
      const builds = yield* writer<Pick<Build, "env_id" | "project_id" | "build_id" | "storage_path">>`
        DELETE FROM builds WHERE project_id = ${id} AND env_id = ${envId}
        RETURNING env_id, project_id, build_id, storage_path`
      const notes = builds.flatMap((build) => [build.storage_path, artifactKey(build)])
      for (const storage_path of notes) {
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
          total: countOf(reader<{ n: number }>`SELECT count(*) AS n FROM projects WHERE ${where}`)
        }).pipe(orUnavailable("list"))
      },

      update: ({ project_id, env_id, name, updated_at }) =>
        onlyRow(
          writer`UPDATE projects SET ${writer.update({ name, updated_at })}
            WHERE project_id = ${project_id} AND env_id = ${env_id} RETURNING project_id`,
          notFound
        ).pipe(onConflict(taken), Effect.asVoid, orUnavailable("update")),

      remove: (envId, id) => writer.withTransaction(remove(envId, id)).pipe(orUnavailable("remove"))
    })
  })
)

type Row = RowOf<Project, "active">

const notFound = new NotFound({ resource: "project" })
const taken = new Taken({ what: "project name" })

const toProject = (row: Row): Project => new Project({ ...row, active: row.active === 1 }, { disableChecks: true })
