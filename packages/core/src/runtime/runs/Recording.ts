/**
 * The recording of a run: its input, its host calls with their answers, and its result. `docs/replay.md` describes it.
 *
 * Of a durable run, it is that of the last activation: the earlier results are a part of the input.
 *
 * The values of context variables are replaced by `secretPlaceholder`. A replay gets these texts, and so makes the same
 * calls as the run.
 */
import { Schema } from "effect"
import { BuildId, EnvId, ProjectId, RunId } from "../../foundation/Ids.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { SealContext } from "../../platform/encryption/Keyring.ts"
import { Sealed } from "../../platform/encryption/Sealed.ts"
import { RunStatus, RunType } from "./Run.ts"

/** Maximum characters of the recorded texts of a run. */
export const recordingLengthMax = 1_048_576

/** Maximum recorded host calls of a run. */
export const recordedCallsMax = 1_000

export const RecordedCall = Schema.Struct({
  /** Name of the operation, such as `fetch.send` or `host.crm.lookup`. */
  op: Schema.String,
  /** JSON text of the arguments. */
  args: Schema.String,
  /** JSON text of the answer, empty for no value; null if the call failed, or has no recorded end. */
  answer: Schema.NullOr(Schema.String),
  error: Schema.NullOr(Schema.Struct({ name: Schema.String, message: Schema.String })),
  /** Number in the order in which calls ended, from 0; null for a call without a recorded end. */
  ended: Schema.NullOr(Schema.Int)
})
export type RecordedCall = typeof RecordedCall.Type

export const RecordedInput = Schema.Struct({
  /** The property of `svc` that is the argument of the function: see `Invocation.trigger`. */
  trigger: Schema.Literals(["event", "request", "tick", "args", "tool", "resource", "prompt", "batch"]),
  /** JSON text of the facts that become `svc`. */
  svc: Schema.String,
  /** The body of a request: see `RequestBody`. */
  body: Schema.NullOr(Schema.Struct({ text: Schema.String, as: Schema.Literals(["json", "text", "form", "given"]) })),
  timeout_ms: Schema.Int,
  /** Of a durable run: the results before its last activation, as `Invocation.replay`. */
  replay: Schema.optionalKey(Schema.Array(Schema.String))
})
export type RecordedInput = typeof RecordedInput.Type

/** The encrypted part of a recording. */
export const RecordingContents = Schema.Struct({
  input: RecordedInput,
  /** In the order in which the run made them. */
  calls: Schema.Array(RecordedCall),
  /** JSON text of the result of the run. */
  result: Schema.String,
  /** Fields that are redacted, as the function declared. */
  redact: Schema.Array(Schema.String)
})
export type RecordingContents = typeof RecordingContents.Type

/** The part of a recording that lists show. */
export const RecordingSummary = Schema.Struct({
  run_id: RunId,
  env_id: EnvId,
  project_id: ProjectId,
  project_name: Schema.String,
  build_id: BuildId,
  ns: Schema.String,
  var: Schema.String,
  run_type: RunType,
  status: RunStatus,
  start_time: Timestamp,
  /** Time of its removal. */
  expires_at: Timestamp,
  /** 1 if host calls were recorded, otherwise 0. */
  host_calls: Schema.Int,
  /** 1 if the run made more calls than were recorded, otherwise 0. */
  truncated: Schema.Int,
  /** Characters of the recorded texts. */
  length: Schema.Int
})
export type RecordingSummary = typeof RecordingSummary.Type

/** A recording as it is stored. */
export const StoredRecording = Schema.Struct({ ...RecordingSummary.fields, contents: Sealed })
export type StoredRecording = typeof StoredRecording.Type

/** A decrypted recording. */
export interface RunRecording extends RecordingSummary, RecordingContents {}

/** The parts of a recording that a replay needs. */
export interface RecordedRun
  extends RecordingContents,
    Pick<RecordingSummary, "run_id" | "ns" | "var" | "status" | "truncated"> {}

export const recordingPlace = ({ env_id, run_id }: Pick<StoredRecording, "env_id" | "run_id">): SealContext => ({
  table: "run_recordings",
  id: `${env_id}/${run_id}`
})

/** Returns the text that replaces the value of a context variable. It is safe in URLs and headers. */
export const secretPlaceholder = (key: string): string => `weft-secret-${key.replace(/[^A-Za-z0-9_-]/g, "_")}`

/** True for the share of all runs, by the random part of the run's id. */
export const isRecorded = (runId: RunId, share: number): boolean =>
  Number.parseInt(runId.slice(-8), 16) < share * 2 ** 32
