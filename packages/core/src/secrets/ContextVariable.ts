/** Context variables: the secrets of a project (specification, "Context variable"). */
import { Schema } from "effect"
import type { Place } from "../encryption/Keyring.ts"
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

/** What may be told of a variable: everything but its value. */
export type ContextMetadata = Omit<ContextVariable, "value">

export const contextMetadata = ({ value: _, ...metadata }: ContextVariable): ContextMetadata => metadata

/** What the value of a variable is sealed for. */
export const contextPlace = (projectId: ProjectId, key: string): Place => ({
  table: "context_variables",
  id: `${projectId}/${key}`
})
