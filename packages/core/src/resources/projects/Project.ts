/** Projects, which contain builds, secrets and schedules. */
import { Schema } from "effect"
import { EnvId, isUuid, ProjectId } from "../../foundation/Ids.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"

/**
 * The name of a stored project: 1 to 128 characters, without `/` or control characters, not shaped like a UUID (decisions
 * section 2). Former releases accepted all of these for new projects; see `NewProjectName`.
 */
export const ProjectName = Schema.String.check(
  Schema.isMinLength(1),
  Schema.isMaxLength(128),
  Schema.isPattern(/^[^/\p{Cc}]*$/u),
  Schema.makeFilter((name) => name.isWellFormed(), { expected: "valid Unicode" }),
  Schema.makeFilter((name) => !isUuid(name), { expected: "a name that is not shaped like a UUID" })
)

/**
 * The name of a new project: letters, digits, spaces, `.`, `_` and `-` in any script. All other characters mean something in
 * a URL, a permission pattern or a shell. A name begins with a letter, a digit or `_`, so it is neither `..` nor an option.
 */
export const NewProjectName = ProjectName.check(
  Schema.isPattern(/^[\p{L}\p{N}_](?:[\p{L}\p{M}\p{N}._ -]*[\p{L}\p{M}\p{N}._-])?$/u)
)

export class Project extends Schema.Class<Project>("Project")({
  project_id: ProjectId,
  env_id: EnvId,
  name: ProjectName,
  active: Schema.Boolean,
  created_at: Timestamp,
  updated_at: Timestamp
}) {}
