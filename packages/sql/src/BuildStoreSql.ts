/** `BuildStore` on SQL. */
import { type EnvId, NotFound, StoreUnavailable, Taken } from "@weft/core"
import {
  Build,
  BuildStore,
  type Deployment,
  type Manifest,
  type ProjectId,
  type ProjectRetention,
  retainingFunctions,
  type Timestamp
} from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { decodeManifest, makeBuildServing } from "./BuildServing.ts"
import { Database, onlyRow, orUnavailable, type RowOf, readCount } from "./Database.ts"

export const layer: Layer.Layer<BuildStore, never, Database> = Layer.effect(
  BuildStore,
  Effect.gen(function* () {
    const { dialect, reader, writer } = yield* Database
    const updateServing = yield* makeBuildServing

    /** Runs in the caller's transaction. */
    const insert = Effect.fnUntraced(function* ({ project_name, deployed, ...build }: Build) {
      yield* onlyRow(
        writer`INSERT INTO builds ${writer.insert({ ...build, active: build.active ? 1 : 0 })}
          ON CONFLICT DO NOTHING RETURNING build_id`,
        new Taken({ what: "build_id" })
      )
      const reservations = yield* writer<{ taken: number }>`
        DELETE FROM loose_bytes WHERE storage_path = ${build.storage_path} RETURNING taken`
      if (reservations.some(({ taken }) => Number(taken) === 1)) return yield* bytesRemoved
    })

    /** Locks the project row, because deleting a project deletes its deployments. Fails if there is no project. */
    const lockProject = ({ env_id, project_id }: Build) =>
      onlyRow(
        writer`SELECT project_id FROM projects
          WHERE project_id = ${project_id} AND env_id = ${env_id}${writer.literal(dialect.forUpdate())}`,
        noProject
      )

    const deploy = Effect.fnUntraced(function* (build: Build, manifest: Manifest, at: Timestamp) {
      const { build_id, env_id, project_id } = build
      yield* lockProject(build)
      yield* onlyRow(
        writer`UPDATE builds SET updated_at = ${at}
          WHERE build_id = ${build_id} AND env_id = ${env_id} AND project_id = ${project_id} RETURNING build_id`,
        notFound
      )
      const deployment = { project_id, env_id, build_id, manifest: JSON.stringify(manifest) }
      yield* writer`INSERT INTO deployments ${writer.insert(deployment)}
        ON CONFLICT (project_id) DO UPDATE SET build_id = excluded.build_id, manifest = excluded.manifest`
      yield* updateServing(build, at)
    })

    const goLive = Effect.fnUntraced(function* (build: Build, manifest: Manifest) {
      const { build_id, env_id, project_id } = build
      yield* lockProject(build)
      yield* insert(build)
      const live = { project_id, env_id, build_id, manifest: JSON.stringify(manifest) }
      yield* writer`INSERT INTO live_builds ${writer.insert(live)}
        ON CONFLICT (project_id) DO UPDATE SET build_id = excluded.build_id, manifest = excluded.manifest`
      yield* updateServing(build, build.created_at)
    })

    const endLive = Effect.fnUntraced(function* (env_id: EnvId, project_id: ProjectId, at: Timestamp) {
      yield* onlyRow(
        writer`DELETE FROM live_builds WHERE project_id = ${project_id} AND env_id = ${env_id} RETURNING project_id`,
        notFound
      )
      // The project already owned all these endpoints.
      yield* Effect.catchTag(updateServing({ env_id, project_id }, at), "Taken", Effect.die)
    })

    const builds = reader.literal(joined)

    /** Selects the builds that the rows (project_id, env_id, build_id, manifest) name. */
    const selectDeployments = (rows: Statement.Fragment) =>
      Effect.map(
        reader<Row & { readonly manifest: string }>`
          SELECT ${reader.literal(columns)}, placed.manifest FROM ${builds}
          JOIN (${rows}) placed ON placed.build_id = b.build_id ORDER BY b.project_id`,
        (rows) => rows.map(toDeployment)
      )

    const among = (projects: ReadonlyArray<string>) => {
      const named = dialect.among(reader, projects)
      return reader`(b.project_id ${named} OR p.name ${named})`
    }

    return BuildStore.of({
      insert: (build) => writer.withTransaction(insert(build)).pipe(orUnavailable("insert")),

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
          total: readCount(reader<{ n: number }>`SELECT count(*) AS n FROM ${builds} WHERE ${where}`)
        }).pipe(orUnavailable("list"))
      },

      deploy: (build, manifest, at) =>
        writer.withTransaction(deploy(build, manifest, at)).pipe(orUnavailable("deploy")),

      deployed: (envId, projectId) =>
        onlyRow(
          selectDeployments(
            reader`SELECT ${reader.literal(serving)} FROM deployments WHERE env_id = ${envId} AND project_id = ${projectId}`
          ),
          notFound
        ).pipe(orUnavailable("deployed")),

      goLive: (build, manifest) => writer.withTransaction(goLive(build, manifest)).pipe(orUnavailable("goLive")),

      live: (envId, projectId) =>
        onlyRow(
          selectDeployments(
            reader`SELECT ${reader.literal(serving)} FROM live_builds WHERE env_id = ${envId} AND project_id = ${projectId}`
          ),
          notFound
        ).pipe(orUnavailable("live")),

      endLive: (envId, projectId, at) =>
        writer.withTransaction(endLive(envId, projectId, at)).pipe(orUnavailable("endLive")),

      deployments: (envId) =>
        selectDeployments(
          reader`SELECT ${reader.literal(serving)} FROM live_builds WHERE env_id = ${envId}
            UNION ALL SELECT ${reader.literal(serving)} FROM deployments WHERE env_id = ${envId}
              AND project_id NOT IN (SELECT project_id FROM live_builds WHERE env_id = ${envId})`
        ).pipe(orUnavailable("deployments")),

      retentions: (after, limit) =>
        reader<Pick<ProjectRetention, "env_id" | "project_id"> & { readonly manifest: string }>`
          SELECT project_id, env_id, manifest FROM (
            SELECT ${reader.literal(serving)} FROM live_builds
            UNION ALL SELECT ${reader.literal(serving)} FROM deployments
              WHERE project_id NOT IN (SELECT project_id FROM live_builds)
          ) serving WHERE project_id > ${after ?? ""} AND manifest LIKE ${retaining}
          ORDER BY project_id LIMIT ${limit}`.pipe(
          Effect.map((rows) =>
            rows.map(({ env_id, project_id, manifest }) => ({
              ...{ env_id, project_id },
              functions: retainingFunctions(decodeManifest(manifest))
            }))
          ),
          orUnavailable("retentions")
        )
    })
  })
)

type Row = RowOf<Build, "active" | "deployed">

const notFound = new NotFound({ resource: "build" })
const noProject = new NotFound({ resource: "project" })
const bytesRemoved = new StoreUnavailable({
  operation: "insert",
  cause: new Error("The bytes of the build were removed")
})

/** Pattern of manifests in which a function has a retention. Quotes within strings of JSON are escaped. */
const retaining = '%"retention_ms":%'

/** Columns that `deployments` and `live_builds` share. */
const serving = "project_id, env_id, build_id, manifest"

/** Builds with the current name of their project. */
const joined = `builds b
  JOIN projects p ON p.project_id = b.project_id AND p.env_id = b.env_id
  LEFT JOIN deployments d ON d.project_id = b.project_id`

const columns = `b.build_id, b.project_id, p.name AS project_name, b.env_id, b.hash, b.size, b.build_type,
  CASE WHEN d.build_id = b.build_id THEN 1 ELSE 0 END AS deployed, b.active, b.created_at, b.updated_at,
  b.storage_path, b.storage_backend`

const toBuild = (row: Row): Build =>
  new Build({ ...row, active: row.active === 1, deployed: row.deployed === 1 }, { disableChecks: true })

const toDeployment = ({ manifest, ...row }: Row & { readonly manifest: string }): Deployment => ({
  build: toBuild(row),
  manifest: decodeManifest(manifest)
})
