/**
 * Operations: work on many runs that continues in the background, with stored progress. Pure.
 *
 *     pending → running → succeeded | failed | cancelled
 *
 * An operation selects the runs that match its filter and began before it. It examines them in the order of their ids, so
 * its position is the id of the last examined run. A redrive selects only dead letters: runs of last attempts.
 */
import { Schema } from "effect"
import { EnvId, EventId, OperationId, RunId } from "../../foundation/Ids.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import { RunStatus, RunType } from "./Run.ts"
import { WaitingFor } from "./Workflow.ts"

export const OperationKind = Schema.Literals(["cancel", "replay", "redrive"])
export type OperationKind = typeof OperationKind.Type

export const OperationState = Schema.Literals(["pending", "running", "succeeded", "cancelled", "failed"])
export type OperationState = typeof OperationState.Type

/**
 * Version of the kinds, the filter and the options. It increases with each addition. A node takes only operations whose
 * format it knows: it would ignore unknown fields of the filter, and change too many runs.
 */
export const operationFormat = 2

/** Returns the least version that has the kind and the filter of an operation. */
export const formatOf = ({ kind, filter }: Pick<Operation, "kind" | "filter">): number =>
  kind === "redrive" || filter.error !== undefined || filter.event_type !== undefined ? 2 : 1

/** Selects runs. Each field restricts the selection. */
export const OperationFilter = Schema.Struct({
  status: Schema.optionalKey(RunStatus),
  type: Schema.optionalKey(RunType),
  /** Only suspended runs that wait for this; `any` for all suspended runs. */
  waiting: Schema.optionalKey(Schema.Literals([...WaitingFor.literals, "any"])),
  /** Id of a project, or its name when the runs started. */
  project: Schema.optionalKey(Schema.String),
  /** A function: `ns/var`, or `project:ns/var`. */
  fn: Schema.optionalKey(Schema.String),
  event_id: Schema.optionalKey(EventId),
  event_type: Schema.optionalKey(Schema.String),
  /** Only failed runs with this text in the name or the message of their error; ASCII case is ignored. */
  error: Schema.optionalKey(Schema.String),
  /** Only runs that started, or letters that are dead, since this instant. */
  since: Schema.optionalKey(Timestamp)
})
export type OperationFilter = typeof OperationFilter.Type

export const OperationOptions = Schema.Struct({
  /** Build of replayed and redriven runs: that of the run, or the deployed one of its project. `same` by default. */
  build: Schema.optionalKey(Schema.Literals(["same", "deployed"])),
  /** Maximum runs per second; without it, as many as the node allows. */
  rate: Schema.optionalKey(Schema.Int)
})
export type OperationOptions = typeof OperationOptions.Type

/** A run on which the operation had no effect, and why. */
export const OperationFailure = Schema.Struct({ run_id: RunId, reason: Schema.String })
export type OperationFailure = typeof OperationFailure.Type

export const Operation = Schema.Struct({
  operation_id: OperationId,
  env_id: EnvId,
  kind: OperationKind,
  state: OperationState,
  filter: OperationFilter,
  options: OperationOptions,
  /** Number of runs that matched when the operation was created. */
  total: Schema.Int,
  /** Number of runs that it cancelled, or started again. */
  done: Schema.Int,
  /** Number of runs that needed nothing: ended before they were cancelled, retried or redriven since, or without an event. */
  skipped: Schema.Int,
  /** Number of runs that it could not process. */
  failed: Schema.Int,
  /** The latest of these runs, the newest first; at most 10. */
  failures: Schema.Array(OperationFailure),
  /** Reason why it does not progress now, such as a limit of the plan; null otherwise. It tries again every 5 s. */
  waiting: Schema.NullOr(Schema.String),
  /** Reason why the whole operation failed; null otherwise. */
  error: Schema.NullOr(Schema.String),
  created_at: Timestamp,
  /** Type and id of the credential that created it. */
  created_by: Schema.String,
  started_at: Schema.NullOr(Timestamp),
  ended_at: Schema.NullOr(Timestamp)
})
export type Operation = typeof Operation.Type

/** The selection of an operation, and its position. */
export const OperationScope = Schema.Struct({
  /** Names of the functions that its creator may call, as of `RunSelection.functions`; null for all functions. */
  functions: Schema.NullOr(Schema.Array(Schema.String)),
  /** Runs with greater ids are not selected: they began later. */
  last_run_id: RunId,
  /** The last examined run; null before the first. */
  after_run_id: Schema.NullOr(RunId),
  /** Number of times that a node took the operation. Only the node with the latest number may write. */
  fence: Schema.Int
})

/** An operation as stored. */
export const StoredOperation = Schema.Struct({ ...Operation.fields, ...OperationScope.fields })
export type StoredOperation = typeof StoredOperation.Type

/** Identifies an operation. */
export type OperationRef = Pick<Operation, "env_id" | "operation_id">

/** Maximum failures that an operation keeps. */
const failuresMax = 10

/** Returns the newest of the failures. `later` are in the order of their runs. */
export const addFailures = (
  known: ReadonlyArray<OperationFailure>,
  later: ReadonlyArray<OperationFailure>
): ReadonlyArray<OperationFailure> => [...later.toReversed(), ...known].slice(0, failuresMax)
