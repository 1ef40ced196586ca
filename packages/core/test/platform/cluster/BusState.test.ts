import { assert, describe, it } from "@effect/vitest"
import { Timestamp } from "../../../src/foundation/time/Timestamp.ts"
import { type BusEvent, type BusState, initialState, transition } from "../../../src/platform/cluster/BusState.ts"

const at = (millis: number) => Timestamp.make(millis)
const subscribed: BusEvent = { _tag: "Subscribed", now: at(10) }
const unsubscribed: BusEvent = { _tag: "Unsubscribed" }
const disconnected: BusEvent = { _tag: "Disconnected", since: at(20) }
const reconnected: BusEvent = { _tag: "Reconnected", now: at(40) }
const sent: BusEvent = { _tag: "BatchSent", isHeartbeat: false, confirms: false }
const confirmed: BusEvent = { _tag: "BatchSent", isHeartbeat: false, confirms: true }

const after = (...events: ReadonlyArray<BusEvent>): BusState => events.reduce(transition, initialState)

describe("the connection", () => {
  it("keeps the start of an outage that is reported twice", () => {
    const state = after(disconnected, { _tag: "Disconnected", since: at(30) })
    assert.deepStrictEqual(state.connection, { _tag: "Disconnected", since: at(20) })
    assert.deepStrictEqual(after(disconnected, reconnected).connection, { _tag: "Connected" })
  })
})

describe("the interest", () => {
  it("is unconfirmed until a batch has sent it", () => {
    const unconfirmed = { _tag: "Unconfirmed", since: at(10), missingSince: at(10) } as const
    assert.deepStrictEqual(after(subscribed).interest, unconfirmed)
    assert.deepStrictEqual(after(subscribed, sent).interest, unconfirmed)
    assert.deepStrictEqual(after(subscribed, confirmed).interest, { _tag: "Confirmed", since: at(10) })
  })

  it("is unconfirmed again after an outage, from its start or from the reconnect", () => {
    const interest = { _tag: "Unconfirmed", since: at(10) } as const
    assert.deepStrictEqual(after(subscribed, confirmed, disconnected, reconnected).interest, {
      ...interest,
      missingSince: at(20)
    })
    assert.deepStrictEqual(after(subscribed, confirmed, reconnected).interest, { ...interest, missingSince: at(40) })
  })

  it("ends with the last subscriber, even if a batch is being sent", () => {
    for (const events of [[subscribed, unsubscribed], [subscribed, unsubscribed, confirmed], [reconnected]]) {
      assert.deepStrictEqual(after(...events).interest, { _tag: "None" })
    }
  })
})

describe("the sender", () => {
  it("is pending after each event that has something to send, until the buffer is empty", () => {
    for (const event of [subscribed, unsubscribed, reconnected, { _tag: "Buffered" } as const]) {
      assert.strictEqual(after(event).sender, "pending")
      assert.strictEqual(after(event, sent).sender, "pending")
      assert.strictEqual(after(event, { _tag: "Flushed" }).sender, "idle")
    }
  })

  it("does not change the state of a bus that is already pending or idle", () => {
    const pending = after({ _tag: "Buffered" })
    assert.strictEqual(transition(pending, { _tag: "Buffered" }), pending)
    assert.strictEqual(transition(initialState, { _tag: "Flushed" }), initialState)
  })
})

describe("the heartbeat", () => {
  it("is due after a batch, but not after a heartbeat, until its timer begins", () => {
    assert.strictEqual(after(sent).heartbeat, "due")
    assert.strictEqual(after({ ...sent, isHeartbeat: true }).heartbeat, "none")
    assert.strictEqual(after(sent, { _tag: "TimerStarted" }).heartbeat, "none")
    assert.strictEqual(after(sent, { ...sent, isHeartbeat: true }).heartbeat, "due")
  })
})
