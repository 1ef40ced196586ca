/** Schedules, including those of deployed builds. */
import { type Build, Manifest, mergeStaticSchedules, type Timestamp } from "@weft/core/adapter"
import { Effect, Schema } from "effect"
import type { Database } from "../Database.ts"
import type { Dialect } from "../Dialect.ts"

const tables = ({ types: { text, integer }, table }: Dialect): ReadonlyArray<string> => [
  `CREATE TABLE schedules (
    schedule_id ${text} PRIMARY KEY, env_id ${text} NOT NULL, project_id ${text} NOT NULL, kind ${text} NOT NULL,
    ns ${text} NOT NULL, var ${text} NOT NULL, cron ${text}, timezone ${text} NOT NULL,
    next_at ${integer} NOT NULL, due_at ${integer} NOT NULL, created_at ${integer} NOT NULL, args ${text}
  )${table}`,
  `CREATE INDEX schedules_by_due ON schedules (due_at, schedule_id)`,
  `CREATE INDEX schedules_of_env ON schedules (env_id, kind, schedule_id)`,
  `CREATE INDEX schedules_of_project ON schedules (project_id, kind)`
]

/** Creates the schedules of builds that were deployed before schedules were supported. They fire after `now`. */
export const schedules = Effect.fnUntraced(function* ({ dialect, writer }: Database["Service"], now: Timestamp) {
  for (const statement of tables(dialect)) yield* writer.unsafe(statement)
  const deployments = yield* writer<Pick<Build, "env_id" | "project_id"> & { readonly manifest: string }>`
    SELECT env_id, project_id, manifest FROM deployments`
  for (const { manifest, ...project } of deployments) {
    for (const { depth: _, ...schedule } of mergeStaticSchedules([], project, decodeManifest(manifest), now)
      .schedules) {
      yield* writer`INSERT INTO schedules ${writer.insert(schedule)}`
    }
  }
})

const decodeManifest = Schema.decodeSync(Schema.fromJsonString(Manifest))
