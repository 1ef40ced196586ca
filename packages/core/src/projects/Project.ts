/** Projects: what builds belong to. */
import { Schema } from "effect"
import { EnvId, isUuid, ProjectId } from "../ids/Ids.ts"
import { Timestamp } from "../ids/Timestamp.ts"

/** Decisions section 2: 1 to 128 characters, no `/`, no control characters, not shaped like a UUID. */
export const ProjectName = Schema.String.check(
  Schema.isMinLength(1),
  Schema.isMaxLength(128),
  Schema.isPattern(/^[^/\p{Cc}]*$/u),
  Schema.makeFilter((name) => name.isWellFormed(), { expected: "valid Unicode" }),
  Schema.makeFilter((name) => !isUuid(name), { expected: "a name that is not shaped like a UUID" })
)

export class Project extends Schema.Class<Project>("Project")({
  project_id: ProjectId,
  env_id: EnvId,
  name: ProjectName,
  active: Schema.Boolean,
  created_at: Timestamp,
  updated_at: Timestamp
}) {}
