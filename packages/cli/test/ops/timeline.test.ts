/** The timeline of a durable run, without a server. */
import { assert, describe, it } from "@effect/vitest"
import type { Run, RunStep, RunWait } from "@weft/client"
import { CliOutput } from "effect/cli"
import * as fc from "fast-check"
import { timelineLines, waitingText } from "../../src/commands/runs/Timeline.ts"
import { makePaint } from "../../src/output/Paint.ts"

const id = "01970d45-1c90-7a51-9d0c-4a3d2b1c0f6e"
const begin = Date.parse("2026-01-31T12:00:00.000Z")
const at = (seconds: number): string => new Date(begin + seconds * 1000).toISOString()

const run: Run = {
  ...{ run_id: id, env_id: id, stream_id: id, build_id: id, project_id: id, project_name: "shop" },
  ...{ run_type: "event", status: "running", start_time: at(0), stop_time: null, origin_run_id: null, event_id: id },
  ...{ result: null, durable: true, steps: 2, activations: 1 },
  waiting: { for: "timer", name: "settle", since: at(80), until: at(160) }
}

const step = (fields: Partial<RunStep>): RunStep => ({
  ...{ position: 0, seq: 0, kind: "step", name: "charge", ok: true, result: 1, error: null, attempts: 1 },
  ...{ started_at: at(0), ended_at: at(40) },
  ...fields
})

const wait = (fields: Partial<RunWait>): RunWait => ({
  ...{
    seq: 3,
    kind: "sleep",
    name: "settle",
    event_type: null,
    child_event_id: null,
    attempts: 0,
    since: at(80),
    until: null
  },
  ...fields
})

describe("a timeline", () => {
  it("has a line for each step and each wait, with bars aligned to the time of the run", () => {
    const steps = [
      step({}),
      step({
        ...{ position: 1, name: "report", ok: false, attempts: 3, started_at: at(40), ended_at: at(80) },
        error: { name: "RangeError", message: "no printer", stack: "" }
      })
    ]
    const waits = [wait({}), wait({ kind: "event", name: "shipped", event_type: "parcel:shipped" })]
    const lines = timelineLines(run, { steps, waits }, begin + 160_000, Number.POSITIVE_INFINITY)
    assert.deepStrictEqual(
      lines.map((line) => line.replace(/^\d\d:\d\d:\d\d/, "hh:mm:ss")),
      [
        "TIME      KIND   NAME     STATE   TRY     TOOK                    NOTE",
        "hh:mm:ss  step   charge   done      1  40.00 s  ████············",
        "hh:mm:ss  step   report   failed    3  40.00 s  ····████········  RangeError: no printer",
        "hh:mm:ss  sleep  settle   waits                 ········████████",
        "hh:mm:ss  event  shipped  waits                 ········████████  parcel:shipped"
      ]
    )
  })

  it("says that a run has no steps yet", () => {
    assert.deepStrictEqual(timelineLines(run, { steps: [], waits: [] }, begin, 80), ["No steps yet"])
  })

  it("fits 80 columns with any names and times", () => {
    const text = fc.string({ unit: "grapheme" })
    const second = fc.integer({ min: -10, max: 1e7 })
    const someStep = fc
      .record({ name: text, from: second, to: second, attempts: fc.nat(99), ok: fc.boolean(), message: text })
      .map(({ from, to, message, ...fields }) =>
        step({ ...fields, started_at: at(from), ended_at: at(to), error: { name: "Error", message, stack: "" } })
      )
    const someWait = fc
      .record({ name: text, since: second, event_type: fc.option(text) })
      .map(({ since, ...fields }) => wait({ ...fields, since: at(since), until: at(since + 10) }))
    fc.assert(
      fc.property(fc.array(someStep), fc.array(someWait), second, (steps, waits, now) => {
        const lines = timelineLines(run, { steps, waits }, begin + now * 1000, 80)
        for (const line of lines) {
          assert.isAtMost(CliOutput.displayWidth(line), 80)
          assert.notMatch(line, /[\p{Cc}\n]/u)
        }
      })
    )
  })

  it("says what a suspended run waits for", () => {
    const plain = makePaint(false)
    assert.match(waitingText(run, plain), /^waits for timer "settle" until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    assert.strictEqual(waitingText({ ...run, waiting: null }, plain), "")
    const node = { for: "node", name: "", since: at(0), until: null } as const
    assert.strictEqual(waitingText({ ...run, waiting: node }, plain), "waits for node")
  })
})
