/** Context variables: the secrets of a project (specification, "Context variable"). */
import { Schema } from "effect"
import { Sealed } from "../encryption/Sealed.ts"
import { EnvId, ProjectId } from "../ids/Ids.ts"
import { Timestamp } from "../ids/Timestamp.ts"

/** Decisions section 2. */
export const ContextKey = Schema.String.check(Schema.isPattern(/^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/))

export class ContextVariable extends Schema.Class<ContextVariable>("ContextVariable")({
  project_id: ProjectId,
  env_id: EnvId,
  key: ContextKey,
  value: Sealed,
  description: Schema.String,
  created_at: Timestamp,
  updated_at: Timestamp
}) {}
