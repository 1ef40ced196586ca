/** Sample recordings of runs; see `Samples.ts`. */
import type { StoredRecording } from "@weft/core/adapter"
import { at, buildId, envId, projectId, runId } from "./Samples.ts"
import { sealWith } from "./SecretSamples.ts"

/** A recording of run `n` in environment 1, which started at `n` and expires at `1000 + n`. */
export const recording = (n: number, fields: Partial<StoredRecording> = {}): StoredRecording => ({
  run_id: runId(n),
  env_id: envId(1),
  project_id: projectId(1),
  project_name: "shop",
  build_id: buildId(1),
  ns: "main",
  var: "onOrder",
  run_type: "event",
  status: "succeeded",
  start_time: at(n),
  expires_at: at(1000 + n),
  host_calls: 1,
  truncated: 0,
  length: 120,
  contents: sealWith("0123456789abcdef", `recording ${n}`),
  ...fields
})
