/** Builds: uploaded zips of user code. */
import { Schema } from "effect"
import { BuildId, EnvId, ProjectId } from "../../foundation/Ids.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"

export class Build extends Schema.Class<Build>("Build")({
  build_id: BuildId,
  project_id: ProjectId,
  project_name: Schema.String,
  env_id: EnvId,
  /** SHA-256 of the zip in lowercase hex. */
  hash: Schema.String,
  /** Size of the zip in bytes. */
  size: Schema.Int,
  /** A `live` build became active at its upload. `BuildStore.live` returns the one that is active now. */
  build_type: Schema.Literals(["bundle", "live"]),
  deployed: Schema.Boolean,
  active: Schema.Boolean,
  created_at: Timestamp,
  updated_at: Timestamp,
  /** Key of the zip in the blob store. */
  storage_path: Schema.String,
  storage_backend: Schema.String
}) {}
