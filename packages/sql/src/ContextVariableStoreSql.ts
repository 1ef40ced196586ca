/** `ContextVariableStore` on SQL. */
import { NotFound, Taken } from "@weft/core"
import { ContextVariable, ContextVariableStore, type ProjectId } from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import { Database, onlyRow, orUnavailable, readCount } from "./Database.ts"

export const layer: Layer.Layer<ContextVariableStore, never, Database> = Layer.effect(
  ContextVariableStore,
  Effect.gen(function* () {
    const { dialect, reader, writer } = yield* Database

    const of = (projectId: ProjectId, envId: string) => reader`project_id = ${projectId} AND env_id = ${envId}`

    /** Locks the project row, because deleting a project deletes its variables. Fails if the project does not exist. */
    const insert = Effect.fnUntraced(function* (variable: ContextVariable) {
      const { project_id, env_id } = variable
      yield* onlyRow(
        writer`SELECT project_id FROM projects
          WHERE project_id = ${project_id} AND env_id = ${env_id}${writer.literal(dialect.forUpdate())}`,
        noProject
      )
      yield* onlyRow(
        writer`INSERT INTO context_variables ${writer.insert({ ...variable })}
          ON CONFLICT DO NOTHING RETURNING key`,
        taken
      )
    })

    return ContextVariableStore.of({
      insert: (variable) => writer.withTransaction(insert(variable)).pipe(Effect.asVoid, orUnavailable("insert")),

      get: (envId, projectId, key) =>
        onlyRow(
          reader<ContextVariable>`SELECT * FROM context_variables WHERE ${of(projectId, envId)} AND key = ${key}`,
          notFound
        ).pipe(Effect.map(toVariable), orUnavailable("get")),

      list: (envId, projectId, { limit, offset }) =>
        Effect.all({
          items: Effect.map(
            reader<ContextVariable>`SELECT * FROM context_variables WHERE ${of(projectId, envId)}
              ORDER BY key LIMIT ${limit} OFFSET ${offset}`,
            (rows) => rows.map(toVariable)
          ),
          total: readCount(
            reader<{ n: number }>`SELECT count(*) AS n FROM context_variables WHERE ${of(projectId, envId)}`
          )
        }).pipe(orUnavailable("list")),

      all: (envId, projectId) =>
        reader<ContextVariable>`SELECT * FROM context_variables WHERE ${of(projectId, envId)} ORDER BY key`.pipe(
          Effect.map((rows) => rows.map(toVariable)),
          orUnavailable("all")
        ),

      update: (envId, projectId, key, change) =>
        onlyRow(
          writer<ContextVariable>`UPDATE context_variables SET ${writer.update({ ...change })}
            WHERE project_id = ${projectId} AND env_id = ${envId} AND key = ${key} RETURNING *`,
          notFound
        ).pipe(Effect.map(toVariable), orUnavailable("update")),

      remove: (envId, projectId, key) =>
        onlyRow(
          writer`DELETE FROM context_variables
            WHERE project_id = ${projectId} AND env_id = ${envId} AND key = ${key} RETURNING key`,
          notFound
        ).pipe(Effect.asVoid, orUnavailable("remove"))
    })
  })
)

const notFound = new NotFound({ resource: "context variable" })
const noProject = new NotFound({ resource: "project" })
const taken = new Taken({ what: "context key" })

const toVariable = (row: ContextVariable): ContextVariable => new ContextVariable({ ...row }, { disableChecks: true })
