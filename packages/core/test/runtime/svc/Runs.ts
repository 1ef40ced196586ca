/** Runs that make host calls in tests. */
import type { EnvId } from "@weft/core"
import { BuildId, NodeId, ProjectId, type Run, RunId, StreamId, Timestamp } from "@weft/core/adapter"

export const makeId = (number: number) => `01890000-0000-7000-8000-${String(number).padStart(12, "0")}`

export const makeRun = (env_id: EnvId, number = 1): Run & { readonly depth: number } => ({
  depth: 0,
  run_id: RunId.make(makeId(number)),
  env_id,
  stream_id: StreamId.make(makeId(1)),
  project_id: ProjectId.make(makeId(2)),
  project_name: "shop",
  build_id: BuildId.make(makeId(3)),
  ns: "main",
  var: "order",
  run_type: "event",
  status: "running",
  start_time: Timestamp.make(0),
  stop_time: null,
  origin_run_id: null,
  event_id: null,
  event_ids: null,
  attempt: 2,
  result: null,
  node_id: NodeId.make(makeId(4)),
  cpu_ms: null,
  wall_ms: null,
  heap_bytes: null,
  activations: null,
  waiting: null,
  steps: null
})
