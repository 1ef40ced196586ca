/** Context variables: the secrets of a project (specification, "Context variable"). */
import { Schema } from "effect"
import { EnvId, ProjectId } from "../../foundation/Ids.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { SealContext } from "../../platform/encryption/Keyring.ts"
import { Sealed } from "../../platform/encryption/Sealed.ts"

/** A valid key (decisions section 2). */
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

/** Readable fields of a variable: all except its value. */
export type ContextMetadata = Omit<ContextVariable, "value">

export const contextMetadata = ({ value: _, ...metadata }: ContextVariable): ContextMetadata => metadata

/** Returns the associated data of the encrypted value. */
export const contextPlace = (projectId: ProjectId, key: string): SealContext => ({
  table: "context_variables",
  id: `${projectId}/${key}`
})
