import { assert, describe, it } from "@effect/vitest"
import { EventRecord, RunRecord, RunStepRecord, toRunRecord } from "@weft/api"
import { Event, formatWaiting, JsonText, Run, type StepRecord, Timestamp } from "@weft/core/adapter"
import { Schema } from "effect"
import * as fc from "fast-check"
import { eventText, inPreviewText, runText, runWithUsageText, stepText } from "../../src/responses/RawRecord.ts"

const json = fc.json().map((text) => JsonText.make(text))
const time = fc.integer({ min: 0, max: 4e12 }).map((ms) => Timestamp.make(ms))
const name = fc.string({ unit: "grapheme" })

const uuid = "01890000-0000-7000-8000-000000000001"
const run = Schema.decodeUnknownSync(Run)({
  ...{ run_id: uuid, env_id: uuid, stream_id: uuid, project_id: uuid, build_id: uuid, node_id: uuid, event_id: uuid },
  ...{ project_name: "shop", ns: "main", var: "f", run_type: "event", status: "succeeded", origin_run_id: null },
  ...{ start_time: 0, stop_time: null, attempt: 1, result: null, cpu_ms: null, wall_ms: null, heap_bytes: null },
  ...{ activations: null, waiting: null, steps: null, event_ids: null }
})
const event = Schema.decodeUnknownSync(Event)({
  ...{ event_id: uuid, env_id: uuid, stream_id: uuid, event_type: "order", event_data: "1" },
  ...{ event_time: 0, created_at: 0 }
})

const durableFields = ["durable", "waiting", "steps", "activations"]

/** Fields without those that a request asks for, and those of previews and batches. */
const unusualFields = ["usage", "preview", "event_ids"]
const usualFields = Object.keys(RunRecord.fields).filter((field) => !unusualFields.includes(field))

const withField = (encoded: object, field: string, text: string): unknown => ({ ...encoded, [field]: JSON.parse(text) })

describe("a raw record", () => {
  it("of a run has exactly the fields of its schema, in their order, with the result as stored", () => {
    fc.assert(
      fc.property(name, time, fc.option(time), fc.option(json), (project_name, start_time, stop_time, result) => {
        const changed: Run = { ...run, project_name, start_time, stop_time, result }
        const encoded = Schema.encodeSync(RunRecord)({ ...toRunRecord(changed), result: null })
        const parsed = JSON.parse(runText(changed))
        assert.deepStrictEqual(parsed, withField(encoded, "result", result ?? "null"))
        assert.deepStrictEqual(
          Object.keys(parsed),
          usualFields.filter((field) => !durableFields.includes(field))
        )
        const { usage, ...others } = JSON.parse(runWithUsageText(changed))
        assert.deepStrictEqual(others, parsed)
        const { ns, attempt, cpu_ms, wall_ms, heap_bytes } = changed
        assert.deepStrictEqual(usage, { ns, var: changed.var, attempt, cpu_ms, wall_ms, heap_bytes })
      })
    )
  })

  it("of a durable run has all fields, with its wait in the format of the API", () => {
    const since = Timestamp.make(0)
    fc.assert(
      fc.property(name, fc.option(time), fc.nat(), (wait, until, steps) => {
        const waiting = formatWaiting({ for: "event", name: wait, since, until })
        const parsed = JSON.parse(runText({ ...run, status: "running", activations: 1, steps, waiting }))
        assert.deepStrictEqual(Object.keys(parsed), usualFields)
        assert.deepInclude(parsed, { durable: true, steps, activations: 1, waiting: JSON.parse(waiting) })
      })
    )
  })

  it("of a run of a preview has its name", () => {
    assert.strictEqual(inPreviewText(undefined, runText), runText)
    const parsed = JSON.parse(inPreviewText("pr-42", runText)(run))
    assert.deepStrictEqual(parsed, { ...JSON.parse(runText(run)), preview: "pr-42" })
  })

  it("of a step has its result or its error as stored, and neither if it is a secret", () => {
    fc.assert(
      fc.property(name, fc.option(json), fc.boolean(), (step, result, ok) => {
        const stored: StepRecord = {
          ...{ position: 3, seq: 4, kind: "step", name: step, ok, result, attempts: 2 },
          ...{ started_at: Timestamp.make(0), ended_at: Timestamp.make(1) }
        }
        const value = JSON.parse(result ?? "null")
        const parsed = JSON.parse(stepText(stored))
        assert.deepStrictEqual([parsed.result, parsed.error], ok ? [value, null] : [null, value])
        assert.deepStrictEqual(Object.keys(parsed).sort(), Object.keys(RunStepRecord.fields).sort())
      })
    )
  })

  it("of an event has exactly the fields of its schema, in their order, with the data as stored", () => {
    fc.assert(
      fc.property(name, time, json, (event_type, event_time, event_data) => {
        const changed: Event = { ...event, event_type, event_time, event_data }
        const encoded = Schema.encodeSync(EventRecord)({ ...changed, event_data: JsonText.make("null") })
        const parsed = JSON.parse(eventText(changed))
        assert.deepStrictEqual(parsed, withField(encoded, "event_data", event_data))
        assert.deepStrictEqual(Object.keys(parsed), Object.keys(EventRecord.fields))
      })
    )
  })
})
