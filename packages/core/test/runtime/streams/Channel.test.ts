/** Channels: numbers, buffers, distribution and disconnects. Plain state, no clock. */
import { assert, describe, it } from "@effect/vitest"
import { EnvId } from "@weft/core"
import { type ActivityEvent, EventId, JsonText, ProjectId, RunId, StreamId, Timestamp } from "@weft/core/adapter"
import { Effect } from "effect"
import fc from "fast-check"
import { Channel, type Interest } from "../../../src/runtime/streams/Channel.ts"
import { parsePosition } from "../../../src/runtime/streams/Message.ts"
import type { MessageBatch, Subscription } from "../../../src/runtime/streams/Subscription.ts"

const uuid = (kind: string, n: number) => `01976a2b-${kind}-7000-8000-${n.toString(16).padStart(12, "0")}`
const env_id = EnvId.make(uuid("0001", 1))
const stream = (n: number) => StreamId.make(uuid("0002", n))

const published = (n: number): ActivityEvent => ({
  type: "event:created",
  env_id,
  event_id: EventId.make(uuid("0003", n)),
  stream_id: stream(n % 3),
  event_type: String(n)
})
const emitted = (n: number, project = "shop", payload = "1"): ActivityEvent => ({
  type: "stream:data",
  env_id,
  run_id: RunId.make(uuid("0004", n)),
  stream_id: stream(n % 3),
  run_type: "event",
  project_id: ProjectId.make(uuid("0005", 1)),
  project_name: project,
  data_type: String(n),
  payload: JsonText.make(payload)
})

const whole: Interest = { stream: null }
const bounds = { replayMessages: 100, replayBytes: 1_000_000, queue: { messages: 50, bytes: 1_000_000 } }

const add = (channel: Channel, ...activities: ReadonlyArray<ActivityEvent>): void => {
  for (const activity of activities) channel.add(activity, 0)
  channel.flush()
}

/** A queue that runs callbacks at once. */
const notifyQueue = { enqueue: (callback: () => void): void => callback() }

const makeChannel = (name: string, more: Partial<typeof bounds> = {}) =>
  new Channel(name, { ...bounds, ...more }, 0, notifyQueue)

/** Subscribes after a position of the channel if its messages are buffered, otherwise to new messages. */
const subscribe = (channel: Channel, interest: Interest, after: string | null = null): Subscription => {
  const position = after === null ? null : parsePosition(after)
  return position !== null && channel.canResume(position)
    ? channel.resume(interest, position)
    : channel.subscribe(interest, 0)
}

const takeBatches = (subscription: Subscription): ReadonlyArray<MessageBatch> => {
  const batches = Effect.runSync(subscription.take)
  return typeof batches === "string" ? assert.fail(batches) : batches
}

/** Takes all messages and returns their marks, or the reason of the end. */
const takeMarks = (subscription: Subscription): ReadonlyArray<string> | string => {
  const batches = Effect.runSync(Effect.andThen(subscription.wake, subscription.take))
  if (typeof batches === "string") return batches
  return batches.flat().map(({ activity }) => ("data_type" in activity ? activity.data_type : toMark(activity)))
}
const toMark = (activity: ActivityEvent): string => ("event_type" in activity ? activity.event_type : activity.type)

describe("Channel", () => {
  it("sends new messages to a subscriber in order", () => {
    const channel = makeChannel("c")
    add(channel, published(1))
    const subscription = subscribe(channel, whole)
    add(channel, published(2), published(3))
    add(channel, published(4))
    assert.deepStrictEqual(takeMarks(subscription), ["2", "3", "4"])
    assert.deepStrictEqual(takeMarks(subscription), [])
  })

  it("does not repeat messages that were added before a subscription and flushed after it", () => {
    const channel = makeChannel("c")
    const before = subscribe(channel, whole)
    channel.add(published(1), 0)
    const after = subscribe(channel, whole, before.begin)
    channel.flush()
    assert.deepStrictEqual(takeMarks(before), ["1"])
    assert.deepStrictEqual(takeMarks(after), ["1"])
  })

  it("sends activity of runs to subscribers of their stream, filtered by project", () => {
    const channel = makeChannel("c")
    const all = subscribe(channel, { stream: stream(1), project: null })
    const byName = subscribe(channel, { stream: stream(1), project: "shop" })
    const byId = subscribe(channel, { stream: stream(1), project: uuid("0005", 1) })
    const other = subscribe(channel, { stream: stream(1), project: "other" })
    const env = subscribe(channel, whole)
    add(channel, published(1), emitted(1), emitted(2), emitted(4, "other"))
    assert.deepStrictEqual([all, byName, byId, other, env].map(takeMarks), [
      ["1", "4"],
      ["1"],
      ["1", "4"],
      ["4"],
      ["1"]
    ])
  })

  it("disconnects only subscribers whose queue exceeds its messages or bytes", () => {
    const channel = makeChannel("c")
    const slow = subscribe(channel, whole)
    const quick = subscribe(channel, whole)
    let isCut = false
    slow.onCut(() => {
      isCut = true
    })
    for (let n = 0; n < 60; n++) {
      add(channel, published(n))
      assert.deepStrictEqual(takeMarks(quick), [String(n)])
    }
    assert.isTrue(isCut)
    assert.strictEqual(takeMarks(slow), "cut")
    const heavy = subscribe(channel, { stream: stream(1), project: null })
    add(channel, emitted(1, "shop", "x".repeat(300_000)))
    add(channel, emitted(1, "shop", "x".repeat(300_000)))
    assert.strictEqual(takeMarks(heavy), "cut")
    assert.deepStrictEqual(takeMarks(quick), [])
  })

  it("buffers at most its limits", () => {
    const channel = makeChannel("c", { replayBytes: 300_000 })
    for (let n = 0; n < 250; n++) add(channel, published(n))
    const marks = Array.from({ length: 100 }, (_, index) => String(150 + index))
    assert.deepStrictEqual(
      channel.bufferedSince(whole, 0).map(({ activity }) => toMark(activity)),
      marks
    )
    for (let n = 0; n < 20; n++) add(channel, emitted(1, "shop", "x".repeat(50_000)))
    assert.isAtMost(channel.bytes, 300_000)
    assert.isAbove(channel.bytes, 100_000)
    channel.shrink(0)
    assert.strictEqual(channel.bytes, 0)
    assert.deepStrictEqual(channel.bufferedSince(whole, 0), [])
  })

  it("rejects positions of other channels and invalid ones", () => {
    const channel = makeChannel("node-1")
    add(channel, published(1), published(2))
    for (const after of ["", "1", "node-1", "node-1-", "node-1-x-t0", "node-1--1-t0", "node-1-3-t0", "node-11-1-t0"]) {
      assert.deepStrictEqual(takeMarks(subscribe(channel, whole, after)), [], after)
    }
    assert.deepStrictEqual(takeMarks(subscribe(channel, whole, "node-2-0-t0")), [])
    assert.deepStrictEqual(takeMarks(subscribe(channel, whole, "node-1-1")), [])
    assert.deepStrictEqual(takeMarks(subscribe(channel, whole, "node-1-1-t0")), ["2"])
  })

  it("resumes only after positions whose messages are buffered", () => {
    const channel = new Channel("c", { ...bounds, replayMessages: 2 }, 100, notifyQueue)
    assert.isTrue(channel.canResume({ channel: "c", seq: 0, time: 100 }))
    for (const n of [1, 2, 3]) channel.add(published(n), 100 + n)
    channel.flush()
    assert.deepStrictEqual(
      [0, 1, 2, 3, 4].map((seq) => channel.canResume({ channel: "c", seq, time: 0 })),
      [false, true, true, true, false]
    )
  })

  it("sends missed messages once, whether the store or the bus is first", () => {
    const channel = makeChannel("c")
    const subscription = subscribe(channel, whole)
    add(channel, published(1))
    const stored = [1, 2, 3].map((n) => ({ at: Timestamp.make(n), activity: published(n) }))
    const missing = channel.selectMissing(stored)
    assert.deepStrictEqual(missing.map(toMark), ["2", "3"])
    for (const activity of missing) channel.addMissing(activity, 5)
    channel.flush()
    add(channel, published(3), published(4))
    assert.deepStrictEqual(takeMarks(subscription), ["1", "2", "3", "4"])
  })

  it("ends its subscriptions after their queued messages", () => {
    const channel = makeChannel("c")
    const env = subscribe(channel, whole)
    const one = subscribe(channel, { stream: stream(1), project: null })
    add(channel, published(1))
    channel.close()
    assert.deepStrictEqual([takeMarks(env), takeMarks(env), takeMarks(one)], [["1"], "closed", "closed"])
  })

  it("has larger queue bounds during a catch-up, and normal bounds after it", () => {
    const channel = makeChannel("c")
    const waiting = channel.join(whole, { channel: "other", seq: 0, time: 0 })
    waiting.beginCatchUp()
    for (let n = 0; n < 200; n++) add(channel, published(n))
    assert.strictEqual(waiting.hasEnded, false)
    waiting.prepend([], () => undefined)
    add(channel, published(200))
    assert.lengthOf(takeMarks(waiting), 201)
    for (let n = 0; n < 51; n++) add(channel, published(n))
    assert.strictEqual(takeMarks(waiting), "cut")
  })

  it("sends missed messages in batches, and calls back when they were sent", () => {
    const channel = makeChannel("c", { replayMessages: 1000, queue: { messages: 1000, bytes: 1_000_000 } })
    const first = subscribe(channel, whole)
    for (let n = 0; n < 600; n++) add(channel, published(n))
    const missed = takeBatches(first)
    const waiting = channel.join(whole, { channel: "other", seq: 0, time: 0 })
    let isDone = false
    waiting.prepend(missed.flat(), () => {
      isDone = true
    })
    const given = takeBatches(waiting)
    assert.deepStrictEqual(
      given.map(({ length }) => length),
      [88, 256, 256]
    )
    assert.deepStrictEqual(given.flat(), missed.flat())
    assert.isFalse(isDone)
    assert.deepStrictEqual(takeMarks(waiting), [])
    assert.isTrue(isDone)
  })

  it("reports a disconnect from before onCut by take, not by the callback", () => {
    const refused = subscribe(makeChannel("c"), whole)
    Effect.runSync(refused.end("cut"))
    refused.onCut(() => assert.fail("called back"))
    assert.strictEqual(takeMarks(refused), "cut")
  })

  it("loses and repeats no message for a client that reconnects at any position", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("add", "add two", "take", "reconnect"), { maxLength: 80 }), (steps) => {
        const channel = makeChannel("c", { replayMessages: 1000, queue: { messages: 1000, bytes: 1_000_000 } })
        let n = 0
        let subscription = subscribe(channel, whole)
        let last = subscription.begin
        const received: Array<string> = []
        const receive = () => {
          const batches = Effect.runSync(Effect.andThen(subscription.wake, subscription.take))
          for (const { activity, position } of typeof batches === "string" ? [] : batches.flat()) {
            received.push(toMark(activity))
            last = position
          }
        }
        for (const step of steps) {
          if (step === "add") add(channel, published(n++))
          if (step === "add two") add(channel, published(n++), published(n++))
          if (step === "take") receive()
          if (step !== "reconnect") continue
          subscription = subscribe(channel, whole, last)
        }
        receive()
        assert.deepStrictEqual(
          received,
          Array.from({ length: n }, (_, index) => String(index))
        )
      })
    )
  })
})
