/** Updates endpoints and schedules after a project's deployed or live build changes, in the same transaction. */
import { Taken } from "@weft/core"
import { type Build, endpointName, Manifest, type Timestamp } from "@weft/core/adapter"
import { Effect, Schema } from "effect"
import { batched } from "./Batch.ts"
import { Database } from "./Database.ts"
import { makeRow } from "./rows/Row.ts"
import { replaceStatic } from "./ScheduleRows.ts"

const endpointRow = makeRow({ env_id: "text", method: "text", service: "text", path: "text", project_id: "text" })

export const decodeManifest = Schema.decodeSync(Schema.fromJsonString(Manifest))

/** The fields of a build that identify its project. */
type ProjectRef = Pick<Build, "env_id" | "project_id">

export const makeBuildServing = Effect.gen(function* () {
  const database = yield* Database
  const { dialect, writer } = database
  const insertEndpoints = batched(writer, dialect, {
    row: endpointRow,
    text: (rows) => `INSERT INTO endpoints (${endpointRow.list}) ${rows} ON CONFLICT DO NOTHING`
  })

  /** Claims the endpoints of all these builds for the project. Fails with the first endpoint that another project has. */
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
    yield* insertEndpoints.run(endpointRow.encode(endpoints.map((endpoint) => ({ ...endpoint, env_id, project_id }))))
  })

  /** Fails with `Taken` ("METHOD /service/path") if another project has an endpoint of these builds. */
  return Effect.fnUntraced(function* (project: ProjectRef, at: Timestamp) {
    const { env_id, project_id } = project
    // Projects of an environment share its endpoints, so concurrent changes are serialized.
    yield* dialect.advisoryLock(writer, [`endpoints ${env_id}`])
    // The live build comes first: it serves the project. A canary only has endpoints.
    const rows = yield* writer<{ place: "canaries" | "deployments" | "live_builds"; manifest: string }>`
      SELECT 'live_builds' AS place, manifest FROM live_builds WHERE project_id = ${project_id}
      UNION ALL SELECT 'deployments' AS place, manifest FROM deployments WHERE project_id = ${project_id}
      UNION ALL SELECT 'canaries' AS place, manifest FROM canaries WHERE project_id = ${project_id} AND state = 'active'
      ORDER BY place DESC`
    const placed = rows.map(({ place, manifest }) => ({ place, manifest: decodeManifest(manifest) }))
    yield* claimEndpoints(
      project,
      placed.map(({ manifest }) => manifest)
    )
    const serving = placed.find(({ place }) => place !== "canaries")
    const served = yield* replaceStatic(database, project, serving?.manifest ?? emptyManifest, at)
    if (serving === undefined) return
    yield* writer`UPDATE ${writer(serving.place)} SET manifest = ${JSON.stringify(served)}
      WHERE project_id = ${project_id}`
  })
})

const emptyManifest: Manifest = {
  functions: [],
  handlers: [],
  schedules: [],
  endpoints: [],
  tools: [],
  resources: [],
  prompts: []
}
