/** Records on the wire with a stored JSON text, which is copied and not parsed: to parse 1 MiB blocks others for 10 ms. */
import {
  EvaluationRecord,
  EventRecord,
  ReplResultRecord,
  RunRecord,
  RunRecordingRecord,
  RunStepRecord,
  RunWaitRecord,
  toEvaluationRecord,
  toReplResult,
  toRunRecord,
  toRunRecordingRecord,
  toStepRecord,
  toWaitRecord
} from "@weft/api"
import type { ReplEnd } from "@weft/core"
import { type Event, JsonText, type OpenWait, type Run, type RunRecording, type StepRecord } from "@weft/core/adapter"
import type { RunEnd } from "@weft/core/internal"
import { Schema } from "effect"

/** Encodes an item as its record. */
export type ToText<A> = (item: A) => string

const encodeRun = Schema.encodeSync(RunRecord)
const encodeEvaluation = Schema.encodeSync(EvaluationRecord)
const encodeReplResult = Schema.encodeSync(ReplResultRecord)
const encodeRecording = Schema.encodeSync(RunRecordingRecord)
const encodeStep = Schema.encodeSync(RunStepRecord)
const encodeWait = Schema.encodeSync(RunWaitRecord)
const encodeEvent = Schema.encodeSync(EventRecord)

const empty = JsonText.make("null")

/** Returns the JSON text of an encoded record, with the stored text in place of the field. */
const withText = (record: object, field: string, text: string): string =>
  `{${Object.entries(record)
    .map(([name, value]) => `${JSON.stringify(name)}:${name === field ? text : JSON.stringify(value)}`)
    .join()}}`

export const runText: ToText<Run> = (run) =>
  withText(encodeRun({ ...toRunRecord(run), result: null }), "result", run.result ?? "null")

/** As `runText`, with the usage of the run. */
export const runWithUsageText: ToText<Run> = (run) => {
  const { ns, var: name, attempt, cpu_ms, wall_ms, heap_bytes } = run
  const usage = { ns, var: name, attempt, cpu_ms, wall_ms, heap_bytes }
  return withText(encodeRun({ ...toRunRecord(run), usage, result: null }), "result", run.result ?? "null")
}

/** Returns `toText` for runs of a preview, whose name is added; `toText` itself for all others. */
export const inPreviewText = (preview: string | undefined, toText: ToText<Run>): ToText<Run> =>
  preview === undefined ? toText : (run) => `${toText(run).slice(0, -1)},"preview":${JSON.stringify(preview)}}`

/** Encodes the end of an evaluation. */
export const evaluationText: ToText<RunEnd> = ({ run, logs }) =>
  withText(encodeEvaluation(toEvaluationRecord({ ...run, result: null }, logs)), "result", run.result ?? "null")

/** Encodes the end of an input of a session. */
export const replResultText: ToText<ReplEnd> = ({ run, logs, ...parts }) =>
  withText(encodeReplResult(toReplResult({ ...run, result: null }, logs, parts)), "result", run.result ?? "null")

/** Encodes a recording, whose texts remain texts. */
export const recordingText: ToText<RunRecording> = (recording) =>
  JSON.stringify(encodeRecording(toRunRecordingRecord(recording)))

export const stepText: ToText<StepRecord> = (step) =>
  withText(encodeStep(toStepRecord({ ...step, result: null })), step.ok ? "result" : "error", step.result ?? "null")

export const waitText: ToText<OpenWait> = (wait) => JSON.stringify(encodeWait(toWaitRecord(wait)))

export const eventText: ToText<Event> = (event) =>
  withText(encodeEvent({ ...event, event_data: empty }), "event_data", event.event_data)
