/** What follows when other builds than before are a project's deployed and live ones, in the same transaction. */
import { type Build, endpointName, Manifest, Taken, type Timestamp } from "@weft/core"
import { Effect, Schema } from "effect"
import { batched } from "./Batch.ts"
import { Database } from "./Database.ts"
import { replaceStatic } from "./ScheduleRows.ts"

export const decodeManifest = Schema.decodeSync(Schema.fromJsonString(Manifest))

/** A project by what names it in a build. */
type ProjectRef = Pick<Build, "env_id" | "project_id">

export const makeBuildServing = Effect.gen(function* () {
  const database = yield* Database
  const { dialect, writer } = database
  const insertEndpoints = batched(writer, dialect, {
    columns: ["text", "text", "text", "text", "text"],
    text: (rows) => `INSERT INTO endpoints (env_id, method, service, path, project_id) ${rows} ON CONFLICT DO NOTHING`
  })

  /** The project has the endpoints of both builds. `Taken` with the first that another project has. */
  const claimEndpoints = Effect.fnUntraced(function* (
    { env_id, project_id }: ProjectRef,
    manifests: ReadonlyArray<Manifest>
  ) {
    const others = yield* writer<{ endpoint: string }>`
      SELECT method || ' /' || service || path AS endpoint FROM endpoints
      WHERE env_id = ${env_id} AND project_id <> ${project_id}`
    const taken = new Set(others.map((row) => row.endpoint))
    const endpoints = manifests.flatMap((manifest) => manifest.endpoints)
    const clash = endpoints.map(endpointName).find((endpoint) => taken.has(endpoint))
    if (clash !== undefined) return yield* new Taken({ what: clash })

    yield* writer`DELETE FROM endpoints WHERE project_id = ${project_id}`
    yield* insertEndpoints.run(
      endpoints.flatMap(({ method, service, path }) => [env_id, method, service, path, project_id])
    )
  })

  /** `Taken` ("METHOD /service/path") when another project has an endpoint of this one's builds. */
  return Effect.fnUntraced(function* (project: ProjectRef, at: Timestamp) {
    const { env_id, project_id } = project
    // Projects of an environment share its endpoints: of two that serve anew at once, one comes after the other.
    yield* dialect.hold(writer, [`endpoints ${env_id}`])
    // The live one comes first: it serves.
    const rows = yield* writer<{ place: "deployments" | "live_builds"; manifest: string }>`
      SELECT 'live_builds' AS place, manifest FROM live_builds WHERE project_id = ${project_id}
      UNION ALL SELECT 'deployments' AS place, manifest FROM deployments WHERE project_id = ${project_id}
      ORDER BY place DESC`
    const placed = rows.map(({ place, manifest }) => ({ place, manifest: decodeManifest(manifest) }))
    yield* claimEndpoints(
      project,
      placed.map(({ manifest }) => manifest)
    )
    const [serving] = placed
    const served = yield* replaceStatic(database, project, serving?.manifest ?? offersNothing, at)
    if (serving === undefined) return
    yield* writer`UPDATE ${writer(serving.place)} SET manifest = ${JSON.stringify(served)}
      WHERE project_id = ${project_id}`
  })
})

const offersNothing: Manifest = { functions: [], handlers: [], schedules: [], endpoints: [], tools: [] }
