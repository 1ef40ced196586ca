/** `CanaryStore` on SQL. */
import { type EnvId, NotFound, Taken } from "@weft/core"
import {
  Build,
  Canary,
  CanaryCounts,
  type CanaryEnd,
  type CanaryId,
  CanarySettings,
  CanaryStore,
  listRedirected,
  type Manifest,
  type NodeId,
  noCounts,
  type ProjectId,
  sumCounts,
  type Timestamp
} from "@weft/core/adapter"
import { Effect, Layer, Schema, Struct } from "effect"
import { decodeManifest, makeBuildServing } from "./BuildServing.ts"
import { Database, onlyRow, orUnavailable, type RowOf } from "./Database.ts"

export const layer: Layer.Layer<CanaryStore, never, Database> = Layer.effect(
  CanaryStore,
  Effect.gen(function* () {
    const { dialect, reader, writer } = yield* Database
    const updateServing = yield* makeBuildServing
    const redirect = yield* makeRedirect
    const own = writer.literal(columns)

    /** Locks the project, so that deployments and canaries of a project begin and end one after the other. */
    const lockProject = (envId: EnvId, projectId: ProjectId) =>
      onlyRow(
        writer`SELECT project_id FROM projects
          WHERE project_id = ${projectId} AND env_id = ${envId}${writer.literal(dialect.forUpdate())}`,
        notFound
      )

    const checkDeployed = ({ env_id, project_id, base_build_id }: Canary, error: NotFound) =>
      onlyRow(
        writer`SELECT build_id FROM deployments
          WHERE project_id = ${project_id} AND env_id = ${env_id} AND build_id = ${base_build_id}`,
        error
      )

    const begin = Effect.fnUntraced(function* (canary: Canary, manifest: Manifest, replace: boolean) {
      const { env_id, project_id } = canary
      yield* lockProject(env_id, project_id)
      yield* checkDeployed(canary, noDeployed)
      const active = yield* writer`SELECT c.canary_id FROM canaries c
        JOIN deployments d ON d.project_id = c.project_id AND d.build_id = c.base_build_id
        WHERE c.project_id = ${project_id} AND c.env_id = ${env_id} AND c.state = 'active'`
      if (active.length > 0 && !replace) return yield* taken
      yield* writer`DELETE FROM canary_counts WHERE env_id = ${env_id}
        AND canary_id IN (SELECT canary_id FROM canaries WHERE project_id = ${project_id})`
      yield* writer`DELETE FROM canaries WHERE project_id = ${project_id} AND env_id = ${env_id}`
      const row = { ...canary, settings: JSON.stringify(canary.settings), manifest: JSON.stringify(manifest) }
      yield* writer`INSERT INTO canaries ${writer.insert(row)}`
      yield* updateServing(canary, canary.started_at)
    })

    const end = Effect.fnUntraced(function* (envId: EnvId, canaryId: CanaryId, { state, reason, at }: CanaryEnd) {
      const found = yield* onlyRow(
        writer<{ project_id: ProjectId }>`SELECT project_id FROM canaries
          WHERE env_id = ${envId} AND canary_id = ${canaryId} AND state = 'active'`,
        notFound
      )
      yield* lockProject(envId, found.project_id)
      const { manifest, ...row } = yield* onlyRow(
        writer<Row & { readonly manifest: string }>`UPDATE canaries
          SET state = ${state}, reason = ${reason}, ended_at = ${at}
          WHERE env_id = ${envId} AND canary_id = ${canaryId} AND state = 'active' RETURNING ${own}, manifest`,
        notFound
      )
      const canary = toCanary(row)
      if (state === "promoted") yield* promote(canary, manifest, at)
      // The project already owned all these endpoints.
      yield* Effect.catchTag(updateServing(canary, at), "Taken", Effect.die)
      if (state === "rolled_back") yield* redirect(canary)
      return canary
    })

    const promote = Effect.fnUntraced(function* (canary: Canary, manifest: string, at: Timestamp) {
      const { env_id, project_id, build_id } = canary
      yield* checkDeployed(canary, notFound)
      yield* writer`UPDATE builds SET updated_at = ${at}
        WHERE build_id = ${build_id} AND env_id = ${env_id} AND project_id = ${project_id}`
      yield* writer`UPDATE deployments SET build_id = ${build_id}, manifest = ${manifest}
        WHERE project_id = ${project_id} AND env_id = ${env_id}`
    })

    const readCounts = ({ env_id, canary_id }: Canary, sql: typeof reader) =>
      Effect.map(
        sql<{ counts: string }>`SELECT counts FROM canary_counts
          WHERE env_id = ${env_id} AND canary_id = ${canary_id}`,
        (rows) => sumCounts(rows.map(({ counts }) => decodeCounts(counts)))
      )

    const report = Effect.fnUntraced(function* (canary: Canary, nodeId: NodeId, counted: CanaryCounts) {
      const { env_id, project_id, canary_id } = canary
      const [found] = yield* writer<{ current: number }>`
        SELECT CASE WHEN d.build_id = c.base_build_id THEN 1 ELSE 0 END AS current
        FROM canaries c LEFT JOIN deployments d ON d.project_id = c.project_id
        WHERE c.project_id = ${project_id} AND c.env_id = ${env_id} AND c.canary_id = ${canary_id}
          AND c.state = 'active'`
      if (found === undefined) return { counts: noCounts, isCurrent: false }
      const row = { canary_id, node_id: nodeId, env_id, counts: JSON.stringify(counted) }
      yield* writer`INSERT INTO canary_counts ${writer.insert(row)}
        ON CONFLICT (canary_id, node_id) DO UPDATE SET counts = excluded.counts`
      return { counts: yield* readCounts(canary, writer), isCurrent: Number(found.current) === 1 }
    })

    return CanaryStore.of({
      begin: (canary, manifest, replace) =>
        writer.withTransaction(begin(canary, manifest, replace)).pipe(orUnavailable("begin")),

      // Read by the writer: a caller sees what it has just changed.
      latest: (envId, projectId) =>
        onlyRow(
          writer<Row>`SELECT ${own} FROM canaries WHERE env_id = ${envId} AND project_id = ${projectId}`,
          notFound
        ).pipe(Effect.map(toCanary), orUnavailable("latest")),

      active: (envId) =>
        reader<ActiveRow>`SELECT ${reader.literal(prefixed)}, c.manifest, p.name AS project_name, ${reader.literal(buildColumns)}
          FROM canaries c
          JOIN deployments d ON d.project_id = c.project_id AND d.build_id = c.base_build_id
          JOIN builds b ON b.build_id = c.build_id AND b.env_id = c.env_id
          JOIN projects p ON p.project_id = c.project_id AND p.env_id = c.env_id
          WHERE c.env_id = ${envId} AND c.state = 'active'
            AND c.project_id NOT IN (SELECT project_id FROM live_builds WHERE env_id = ${envId})
          ORDER BY c.project_id`.pipe(
          Effect.map((rows) => rows.map(toDeployment)),
          orUnavailable("active")
        ),

      // Read by the writer: a node must know a canary when its own request returns.
      known: (since) =>
        writer<KnownRow>`SELECT ${writer.literal(prefixed)}, d.build_id AS deployed_id,
            CASE WHEN c.state = 'active' THEN NULL ELSE d.manifest END AS deployed_manifest,
            CASE WHEN c.state = 'active' THEN NULL ELSE c.manifest END AS canary_manifest
          FROM canaries c LEFT JOIN deployments d ON d.project_id = c.project_id
          WHERE c.state = 'active' OR (c.state = 'rolled_back' AND c.ended_at >= ${since} AND d.build_id <> c.build_id)`.pipe(
          Effect.map((rows) => rows.map(toKnown)),
          orUnavailable("known")
        ),

      report: (canary, nodeId, counted) =>
        writer.withTransaction(report(canary, nodeId, counted)).pipe(orUnavailable("report")),

      counts: (canary) => readCounts(canary, reader).pipe(orUnavailable("counts")),

      end: (envId, canaryId, ended) => writer.withTransaction(end(envId, canaryId, ended)).pipe(orUnavailable("end")),

      redirect: (canary) => writer.withTransaction(redirect(canary)).pipe(orUnavailable("redirect"))
    })
  })
)

/** Returns a function that moves pending deliveries of a canary to the deployed build, in the caller's transaction. */
const makeRedirect = Effect.gen(function* () {
  const { dialect, writer } = yield* Database

  return Effect.fnUntraced(function* ({ env_id, project_id, build_id, canary_id }: Canary) {
    const [deployed] = yield* writer<{ build_id: string; manifest: string; canary: string | null }>`
      SELECT d.build_id, d.manifest, c.manifest AS canary FROM deployments d
      LEFT JOIN canaries c ON c.project_id = d.project_id AND c.env_id = d.env_id AND c.canary_id = ${canary_id}
      WHERE d.project_id = ${project_id} AND d.env_id = ${env_id} AND d.build_id <> ${build_id}`
    if (deployed === undefined) return
    const names = toRedirected(deployed.canary, deployed.manifest)
    // A durable run that continues keeps its build, because its history belongs to that code.
    yield* writer`UPDATE deliveries SET build_id = ${deployed.build_id}
      WHERE env_id = ${env_id} AND project_id = ${project_id} AND build_id = ${build_id} AND continues IS NULL
        AND ns || '/' || var ${dialect.among(writer, names)}`
  })
})

interface Row extends Omit<Canary, "settings"> {
  readonly settings: string
}

interface ActiveRow extends Row, BuildColumns {
  readonly manifest: string
  readonly project_name: string
}

/** Columns of a build that its canary lacks. */
type BuildColumns = Pick<
  RowOf<Build, "active" | "deployed">,
  "hash" | "size" | "build_type" | "active" | "created_at" | "updated_at" | "storage_path" | "storage_backend"
>

interface KnownRow extends Row {
  readonly deployed_id: Canary["build_id"] | null
  readonly deployed_manifest: string | null
  readonly canary_manifest: string | null
}

const columnNames = Struct.keys(Canary.fields)
const columns = columnNames.join(", ")
const prefixed = columnNames.map((column) => `c.${column}`).join(", ")
const buildColumns =
  "b.hash, b.size, b.build_type, b.active, b.created_at, b.updated_at, b.storage_path, b.storage_backend"

const decodeSettings = Schema.decodeSync(Schema.fromJsonString(CanarySettings))
const decodeCounts = Schema.decodeSync(Schema.fromJsonString(CanaryCounts))

const toCanary = (row: Row): Canary => {
  const { canary_id, env_id, project_id, build_id, base_build_id, state, started_at, ended_at, reason } = row
  return {
    ...{ canary_id, env_id, project_id, build_id, base_build_id, state },
    settings: decodeSettings(row.settings),
    ...{ started_at, ended_at, reason }
  }
}

const toDeployment = (row: ActiveRow) => {
  const { build_id, project_id, project_name, env_id, hash, size, build_type } = row
  const { created_at, updated_at, storage_path, storage_backend } = row
  return {
    canary: toCanary(row),
    manifest: decodeManifest(row.manifest),
    build: new Build(
      {
        ...{ build_id, project_id, project_name, env_id, hash, size, build_type },
        ...{ deployed: false, active: row.active === 1, created_at, updated_at, storage_path, storage_backend }
      },
      { disableChecks: true }
    )
  }
}

const toKnown = (row: KnownRow) => {
  const { deployed_id, deployed_manifest, canary_manifest } = row
  if (deployed_id === null || deployed_manifest === null) return { canary: toCanary(row), redirect: null }
  const functions = toRedirected(canary_manifest, deployed_manifest)
  return { canary: toCanary(row), redirect: { build_id: deployed_id, functions } }
}

const toRedirected = (canary: string | null, deployed: string) =>
  listRedirected(canary === null ? null : decodeManifest(canary), decodeManifest(deployed))

const notFound = new NotFound({ resource: "canary" })
const noDeployed = new NotFound({ resource: "deployed build" })
const taken = new Taken({ what: "canary" })
