/** The state machine of guest isolates. */
import { assert, describe, it } from "@effect/vitest"
import { type IsolateEvent, type IsolateState, transition } from "../src/runner/IsolateState.ts"

const states: ReadonlyArray<IsolateState> = [
  { name: "loading", since: 1 },
  { name: "idle" },
  { name: "scheduled" },
  { name: "waiting" },
  { name: "running", since: 2, isBusyReported: false },
  { name: "stopping", since: 3, isEntry: true },
  { name: "disposed" }
]

/** The allowed events by state, with the next state. */
const allowed: Readonly<Record<IsolateState["name"], Partial<Record<IsolateEvent["kind"], IsolateState>>>> = {
  loading: { exit: { name: "idle" }, dispose: { name: "stopping", since: 1, isEntry: false } },
  idle: { schedule: { name: "scheduled" }, request: { name: "waiting" }, dispose: { name: "disposed" } },
  scheduled: { flush: { name: "idle" }, dispose: { name: "disposed" } },
  waiting: { enter: { name: "running", since: 9, isBusyReported: false }, dispose: { name: "disposed" } },
  running: {
    reportBusy: { name: "running", since: 2, isBusyReported: true },
    exit: { name: "idle" },
    dispose: { name: "stopping", since: 2, isEntry: true }
  },
  stopping: { exit: { name: "disposed" } },
  disposed: {}
}

const events: ReadonlyArray<IsolateEvent> = [
  { kind: "schedule" },
  { kind: "flush" },
  { kind: "request" },
  { kind: "enter", now: 9 },
  { kind: "reportBusy" },
  { kind: "exit" },
  { kind: "dispose" }
]

describe("the state of an isolate", () => {
  it("changes only by the events that are allowed in it", () => {
    for (const state of states) {
      for (const event of events) {
        const next = allowed[state.name][event.kind]
        if (next === undefined) {
          assert.throws(() => transition(state, event), `an isolate in the state ${state.name} cannot ${event.kind}`)
        } else {
          assert.deepStrictEqual(transition(state, event), next)
        }
      }
    }
  })
})
