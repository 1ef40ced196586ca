/**
 * The generation of a release, stored in each database that it used. Every release has the next number.
 *
 * A release works with the schema of the next release, so that nodes of both run side by side and a rollback is possible.
 * It cannot know what later releases contracted, or which values they write. It refuses their databases.
 */
import { Effect, Schema } from "effect"
import { Database } from "./Database.ts"

/** Generation of this release: one more than that of the previous release. Version 0.1.0 stored none. */
const ownGeneration = 2

/** The database was used by a release that is more than one ahead. Reported to the operator at start. */
export class SchemaTooNew extends Schema.TaggedError<SchemaTooNew>()("SchemaTooNew", {}) {
  override get message(): string {
    return "the schema is of a later release that this one cannot follow. Start the later release, or restore a backup of this one"
  }
}

/**
 * Fails if the database is of a release that is more than one ahead, or has unknown steps of no release. Otherwise stores the
 * generation of this release. `lastStep` is the latest migration step of this release.
 */
export const checkGeneration = Effect.fnUntraced(function* (lastStep: number) {
  const { writer } = yield* Database
  const [steps] = yield* writer<{ last: number }>`SELECT MAX(migration_id) AS last FROM weft_migrations`
  const hasLater = (steps?.last ?? 0) > lastStep
  const generations = writer<{ last: number | null }>`SELECT MAX(generation) AS last FROM generations`
  // A later schema may lack the table.
  const [stored] = yield* hasLater ? Effect.orElseSucceed(generations, () => []) : generations
  const generation = stored?.last ?? 0
  if (generation > ownGeneration + 1 || (hasLater && generation <= ownGeneration)) return yield* new SchemaTooNew()
  if (generation < ownGeneration) yield* writer`INSERT INTO generations ${writer.insert({ generation: ownGeneration })}`
})
