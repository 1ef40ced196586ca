import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { readRecordingRules } from "../../../src/resources/builds/RecordingRules.ts"
import { readTriggers } from "../../../src/resources/builds/Triggers.ts"

const fn = { ns: "main", var: "go" }

describe("meta.record", () => {
  it("has defaults", () => {
    assert.deepStrictEqual(Result.getOrThrow(readRecordingRules({ inputs: true })), {
      ...{ host_calls: false, share: 1, redact: [], context: [] },
      retention_ms: 7 * 86_400_000
    })
  })

  it("holds for all triggers of the function, with the headers that the function masks", () => {
    const record = { inputs: true, hostCalls: true, share: 0.5, redact: ["a.b"], context: ["REGION"], retention: "1d" }
    const webhook = { service: "s", path: "/" }
    const read = readTriggers(fn, { event: "a", webhook, record, "secret-headers": ["X-Key"] })
    const { functions, handlers, endpoints } = Result.getOrThrow(Result.mapError(read, ({ reason }) => reason))
    const recording = {
      ...{ host_calls: true, share: 0.5, redact: ["a.b", "x-key"], context: ["REGION"] },
      retention_ms: 86_400_000
    }
    for (const entry of [functions[0], handlers[0], endpoints[0]]) assert.deepInclude(entry, { recording })
    assert.strictEqual(endpoints[0]?.record, "before")
  })

  for (const [record, field, reason] of [
    [{ inputs: false }, "record.inputs", "must be true: without its input, a run cannot be replayed"],
    [{ inputs: true, share: 0 }, "record.share", "must be more than 0"],
    [{ inputs: true, answers: true }, "record.answers", "is not a known key"],
    [{ inputs: true, redact: "a" }, "record.redact", "must be an array of at most 100 names"],
    [{ inputs: true, retention: "31d" }, "record.retention", "must be from 60000 ms to 2592000000 ms"]
  ] as const) {
    it(`rejects ${JSON.stringify(record)}`, () => {
      assert.deepStrictEqual(readTriggers(fn, { event: "a", record }), Result.fail({ field, reason }))
    })
  }
})
