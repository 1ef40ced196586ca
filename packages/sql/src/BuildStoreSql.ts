/** `BuildStore` on SQL. */
import { Build, BuildStore, type Deployment, Manifest, NotFound, Taken, type Timestamp } from "@weft/core"
import { Effect, Layer, Schema } from "effect"
import type { Statement } from "effect/sql"
import { batched } from "./Batch.ts"
import { countOf, Database, onlyRow, orUnavailable, type RowOf } from "./Database.ts"
import { replaceStatic } from "./ScheduleRows.ts"

export const layer: Layer.Layer<BuildStore, never, Database> = Layer.effect(
  BuildStore,
  Effect.gen(function* () {
    const database = yield* Database
    const { dialect, reader, writer } = database
    const insertEndpoints = batched(writer, dialect, {
      columns: ["text", "text", "text", "text", "text"],
      text: (values) =>
        `INSERT INTO endpoints (env_id, method, service, path, project_id) VALUES ${values} ON CONFLICT DO NOTHING`
    })

    const deploy = Effect.fnUntraced(function* (build: Build, manifest: Manifest, at: Timestamp) {
      const { build_id, env_id, project_id } = build
      yield* onlyRow(
        writer`UPDATE builds SET updated_at = ${at}
          WHERE build_id = ${build_id} AND env_id = ${env_id} AND project_id = ${project_id} RETURNING build_id`,
        notFound
      )
      const others = yield* writer<{ endpoint: string }>`
        SELECT method || ' /' || service || path AS endpoint FROM endpoints
        WHERE env_id = ${env_id} AND project_id <> ${project_id}`
      const taken = new Set(others.map((row) => row.endpoint))
      const clash = manifest.endpoints
        .map((endpoint) => `${endpoint.method} /${endpoint.service}${endpoint.path}`)
        .find((endpoint) => taken.has(endpoint))
      if (clash !== undefined) return yield* new Taken({ what: clash })

      const served = yield* replaceStatic(database, build, manifest, at)
      const deployment = { project_id, env_id, build_id, manifest: JSON.stringify(served) }
      yield* writer`DELETE FROM endpoints WHERE project_id = ${project_id}`
      yield* writer`INSERT INTO deployments ${writer.insert(deployment)}
        ON CONFLICT (project_id) DO UPDATE SET build_id = excluded.build_id, manifest = excluded.manifest`
      yield* insertEndpoints.run(
        manifest.endpoints.flatMap(({ method, service, path }) => [env_id, method, service, path, project_id])
      )
    })

    const builds = reader.literal(joined)

    const deployments = (where: Statement.Fragment) =>
      Effect.map(
        reader<Row & { readonly manifest: string }>`
          SELECT ${reader.literal(columns)}, d.manifest FROM ${builds}
          WHERE b.build_id = d.build_id AND ${where} ORDER BY b.project_id`,
        (rows) => rows.map(toDeployment)
      )

    const among = (projects: ReadonlyArray<string>) => {
      const texts = dialect.texts(reader, projects)
      return reader`(b.project_id IN (${texts}) OR p.name IN (${texts}))`
    }

    return BuildStore.of({
      insert: ({ project_name, deployed, ...build }) =>
        onlyRow(
          writer`INSERT INTO builds ${writer.insert({ ...build, active: build.active ? 1 : 0 })}
            ON CONFLICT DO NOTHING RETURNING build_id`,
          new Taken({ what: "build_id" })
        ).pipe(Effect.asVoid, orUnavailable("insert")),

      get: (envId, id, projectId) => {
        const where = [reader`b.env_id = ${envId}`, reader`b.build_id = ${id}`]
        if (projectId !== undefined) where.push(reader`b.project_id = ${projectId}`)
        return onlyRow(
          reader<Row>`SELECT ${reader.literal(columns)} FROM ${builds} WHERE ${reader.and(where)}`,
          notFound
        ).pipe(Effect.map(toBuild), orUnavailable("get"))
      },

      list: (envId, { limit, offset }, { projectId, only }) => {
        const terms: Array<Statement.Fragment> = [reader`b.env_id = ${envId}`]
        if (projectId !== undefined) terms.push(reader`b.project_id = ${projectId}`)
        if (only !== undefined) terms.push(among(only))
        const where = reader.and(terms)
        return Effect.all({
          items: Effect.map(
            reader<Row>`SELECT ${reader.literal(columns)} FROM ${builds} WHERE ${where}
              ORDER BY b.created_at DESC, b.build_id DESC LIMIT ${limit} OFFSET ${offset}`,
            (rows) => rows.map(toBuild)
          ),
          total: countOf(reader<{ n: number }>`SELECT count(*) AS n FROM ${builds} WHERE ${where}`)
        }).pipe(orUnavailable("list"))
      },

      deploy: (build, manifest, at) =>
        writer.withTransaction(deploy(build, manifest, at)).pipe(orUnavailable("deploy")),

      deployed: (envId, projectId) =>
        onlyRow(deployments(reader`b.env_id = ${envId} AND b.project_id = ${projectId}`), notFound).pipe(
          orUnavailable("deployed")
        ),

      deployments: (envId) => deployments(reader`b.env_id = ${envId}`).pipe(orUnavailable("deployments"))
    })
  })
)

type Row = RowOf<Build, "active" | "deployed">

const notFound = new NotFound({ resource: "build" })

/** A build has the name that its project has today. */
const joined = `builds b
  JOIN projects p ON p.project_id = b.project_id AND p.env_id = b.env_id
  LEFT JOIN deployments d ON d.project_id = b.project_id`

const columns = `b.build_id, b.project_id, p.name AS project_name, b.env_id, b.hash, b.size, b.build_type,
  CASE WHEN d.build_id = b.build_id THEN 1 ELSE 0 END AS deployed, b.active, b.created_at, b.updated_at,
  b.storage_path, b.storage_backend`

const toBuild = (row: Row): Build =>
  new Build({ ...row, active: row.active === 1, deployed: row.deployed === 1 }, { disableChecks: true })

const decodeManifest = Schema.decodeSync(Schema.fromJsonString(Manifest))

const toDeployment = ({ manifest, ...row }: Row & { readonly manifest: string }): Deployment => ({
  build: toBuild(row),
  manifest: decodeManifest(manifest)
})
