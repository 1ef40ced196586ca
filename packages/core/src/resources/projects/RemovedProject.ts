/** A removed project. Its record ensures that nothing of it starts, and lets any node end its runs and deliveries. */
import { Schema } from "effect"
import { EnvId, ProjectId } from "../../foundation/Ids.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"

export const RemovedProject = Schema.Struct({
  project_id: ProjectId,
  env_id: EnvId,
  removed_at: Timestamp,
  /** True if nothing is left of its deliveries and runs, and nothing more can arrive. */
  swept: Schema.Boolean
})
export type RemovedProject = typeof RemovedProject.Type
