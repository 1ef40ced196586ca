/** Builds: uploaded zips of user code. */
import { Schema } from "effect"
import { BuildId, EnvId, ProjectId } from "../ids/Ids.ts"
import { Timestamp } from "../ids/Timestamp.ts"

export class Build extends Schema.Class<Build>("Build")({
  build_id: BuildId,
  project_id: ProjectId,
  project_name: Schema.String,
  env_id: EnvId,
  /** SHA-256 of the zip, lowercase hex. */
  hash: Schema.String,
  /** Bytes of the zip. */
  size: Schema.Int,
  /** A `live` one was uploaded to serve its project at once, and may still do so: see `BuildStore.live`. */
  build_type: Schema.Literals(["bundle", "live"]),
  deployed: Schema.Boolean,
  active: Schema.Boolean,
  created_at: Timestamp,
  updated_at: Timestamp,
  /** The key of the zip in the blob store. */
  storage_path: Schema.String,
  storage_backend: Schema.String
}) {}
