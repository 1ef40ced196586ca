/** Numbers of ended runs that are counted for their organization's usage, but not stored. */
import type { NodeId } from "../../foundation/Ids.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Run } from "../runs/Run.ts"

/** Runs of one project and status that began in the same month. */
export interface RunCount
  extends Pick<Run, "env_id" | "project_id" | "project_name" | "run_type" | "status" | "start_time"> {
  readonly runs: number
}

/**
 * Counts of a node. The node numbers its batches in ascending order, and adds the next one only after this one. It repeats a
 * batch unchanged until the store confirms it.
 */
export interface RunCountBatch {
  readonly node_id: NodeId
  readonly seq: number
  readonly at: Timestamp
  readonly counts: ReadonlyArray<RunCount>
}
