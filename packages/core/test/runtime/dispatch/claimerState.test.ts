import { assert, describe, it } from "@effect/vitest"
import { Timestamp } from "../../../src/foundation/time/Timestamp.ts"
import {
  at,
  type ClaimerEvent,
  type ClaimerState,
  initialState,
  isClaiming,
  isRequestedNow,
  isStopped,
  none,
  now,
  transition,
  waitMs
} from "../../../src/runtime/dispatch/ClaimerState.ts"

const at10 = at(Timestamp.make(10))
const at20 = at(Timestamp.make(20))

const waiting: ClaimerState = { _tag: "Waiting", next: none }
const waiting10: ClaimerState = { _tag: "Waiting", next: at10 }
const waiting20: ClaimerState = { _tag: "Waiting", next: at20 }
const waitingNow: ClaimerState = { _tag: "Waiting", next: now }
const claiming: ClaimerState = { _tag: "Claiming", next: none }
const claiming10: ClaimerState = { _tag: "Claiming", next: at10 }
const claiming20: ClaimerState = { _tag: "Claiming", next: at20 }
const claimingNow: ClaimerState = { _tag: "Claiming", next: now }
const draining: ClaimerState = { _tag: "Draining" }
const stopped: ClaimerState = { _tag: "Stopped" }

const requestNow: ClaimerEvent = { _tag: "request", next: now }
const request10: ClaimerEvent = { _tag: "request", next: at10 }
const request20: ClaimerEvent = { _tag: "request", next: at20 }
const begin: ClaimerEvent = { _tag: "begin" }
const end: ClaimerEvent = { _tag: "end", next: none }
const end10: ClaimerEvent = { _tag: "end", next: at10 }
const endNow: ClaimerEvent = { _tag: "end", next: now }
const fail: ClaimerEvent = { _tag: "fail" }
const stop: ClaimerEvent = { _tag: "stop" }

const columns = [requestNow, request10, request20, begin, end, end10, endNow, fail, stop]

/** The state after each event of `columns`; null if the event is not allowed. */
const table: ReadonlyArray<readonly [ClaimerState, ReadonlyArray<ClaimerState | null>]> = [
  [waiting, [waitingNow, waiting10, waiting20, claiming, null, null, null, null, stopped]],
  [waiting10, [waitingNow, waiting10, waiting10, claiming, null, null, null, null, stopped]],
  [waiting20, [waitingNow, waiting10, waiting20, claiming, null, null, null, null, stopped]],
  [waitingNow, [waitingNow, waitingNow, waitingNow, claiming, null, null, null, null, stopped]],
  [claiming, [claimingNow, claiming10, claiming20, null, waiting, waiting10, waitingNow, waiting, draining]],
  [claiming10, [claimingNow, claiming10, claiming10, null, waiting10, waiting10, waitingNow, waiting10, draining]],
  [claiming20, [claimingNow, claiming10, claiming20, null, waiting20, waiting10, waitingNow, waiting20, draining]],
  [
    claimingNow,
    [claimingNow, claimingNow, claimingNow, null, waitingNow, waitingNow, waitingNow, waitingNow, draining]
  ],
  [draining, [draining, draining, draining, null, stopped, stopped, stopped, stopped, draining]],
  [stopped, [stopped, stopped, stopped, null, null, null, null, null, stopped]]
]

const print = (value: ClaimerState | ClaimerEvent): string => {
  if (!("next" in value)) return value._tag
  return `${value._tag} ${value.next._tag === "At" ? value.next.dueAt : value.next._tag}`
}

describe("ClaimerState", () => {
  for (const [state, row] of table) {
    for (const [index, event] of columns.entries()) {
      const expected = row[index] ?? null
      if (expected === null) {
        it(`rejects "${print(event)}" in the state ${print(state)}`, () => {
          assert.throws(() => transition(state, event), `a claimer in the state ${state._tag} cannot ${event._tag}`)
        })
      } else {
        it(`goes from ${print(state)} to ${print(expected)} on "${print(event)}"`, () => {
          assert.deepStrictEqual(transition(state, event), expected)
        })
      }
    }
  }

  it("returns the same object for a request or a stop that changes nothing", () => {
    for (const [state, row] of table) {
      for (const [index, event] of columns.entries()) {
        const isUnchanged = row[index] === state && (event._tag === "request" || event._tag === "stop")
        if (isUnchanged) assert.strictEqual(transition(state, event), state)
      }
    }
  })

  it("begins with a claim at once", () => {
    assert.deepStrictEqual(initialState, waitingNow)
    assert.isTrue(isRequestedNow(initialState))
  })

  it("waits until the next claim is due, and without an end if none is requested", () => {
    assert.strictEqual(waitMs(waitingNow, 15), 0)
    assert.strictEqual(waitMs(waiting10, 15), -5)
    assert.strictEqual(waitMs(waiting20, 15), 5)
    for (const state of [waiting, draining, stopped]) assert.strictEqual(waitMs(state, 15), Number.POSITIVE_INFINITY)
  })

  it("is claiming while a claim is in flight, and stopped after a stop", () => {
    for (const [state] of table) {
      assert.strictEqual(isClaiming(state), state._tag === "Claiming" || state._tag === "Draining")
      assert.strictEqual(isStopped(state), state._tag === "Draining" || state._tag === "Stopped")
    }
  })
})
