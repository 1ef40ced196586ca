/** The rules of a channel: numbering, keeping, handing out, cutting off. Plain state, no clock. */
import { assert, describe, it } from "@effect/vitest"
import { type Activity, EnvId, EventId, JsonText, ProjectId, RunId, StreamId, Timestamp } from "@weft/core"
import { Effect } from "effect"
import fc from "fast-check"
import { Channel, type Interest } from "../../src/streams/Channel.ts"
import { placeOf } from "../../src/streams/Message.ts"
import type { Portion, Subscription } from "../../src/streams/Subscription.ts"

const uuid = (kind: string, n: number) => `01976a2b-${kind}-7000-8000-${n.toString(16).padStart(12, "0")}`
const env_id = EnvId.make(uuid("0001", 1))
const stream = (n: number) => StreamId.make(uuid("0002", n))

const published = (n: number): Activity => ({
  type: "event:created",
  env_id,
  event_id: EventId.make(uuid("0003", n)),
  stream_id: stream(n % 3),
  event_type: String(n)
})
const emitted = (n: number, project = "shop", payload = "1"): Activity => ({
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

const add = (channel: Channel, ...activities: ReadonlyArray<Activity>): void => {
  for (const activity of activities) channel.add(activity, 0)
  channel.flush()
}

/** Everybody's turn is at once. */
const turns = { wait: (act: () => void): void => act() }

const channelOf = (name: string, more: Partial<typeof bounds> = {}) =>
  new Channel(name, { ...bounds, ...more }, 0, turns)

/** From a place that the channel gave and keeps what came after, or from now on. */
const subscribe = (channel: Channel, interest: Interest, after: string | null = null): Subscription => {
  const place = after === null ? null : placeOf(after)
  return place !== null && channel.keeps(place) ? channel.resume(interest, place) : channel.subscribe(interest, 0)
}

/** What there is to be taken now, by the marks of the samples; or how it ended. */
const portionsOf = (subscription: Subscription): ReadonlyArray<Portion> => {
  const news = Effect.runSync(subscription.take)
  return typeof news === "string" ? assert.fail(news) : news
}

const taken = (subscription: Subscription): ReadonlyArray<string> | string => {
  const news = Effect.runSync(Effect.andThen(subscription.nudge, subscription.take))
  if (typeof news === "string") return news
  return news.flat().map(({ activity }) => ("data_type" in activity ? activity.data_type : markOf(activity)))
}
const markOf = (activity: Activity): string => ("event_type" in activity ? activity.event_type : activity.type)

describe("a channel", () => {
  it("gives a subscriber what comes from then on, in order", () => {
    const channel = channelOf("c")
    add(channel, published(1))
    const subscription = subscribe(channel, whole)
    add(channel, published(2), published(3))
    add(channel, published(4))
    assert.deepStrictEqual(taken(subscription), ["2", "3", "4"])
    assert.deepStrictEqual(taken(subscription), [])
  })

  it("does not give twice what was added but not yet handed out when somebody came", () => {
    const channel = channelOf("c")
    const before = subscribe(channel, whole)
    channel.add(published(1), 0)
    const after = subscribe(channel, whole, before.begin)
    channel.flush()
    assert.deepStrictEqual(taken(before), ["1"])
    assert.deepStrictEqual(taken(after), ["1"])
  })

  it("gives a stream what runs do and emit in it, of the project that is asked for", () => {
    const channel = channelOf("c")
    const all = subscribe(channel, { stream: stream(1), project: null })
    const byName = subscribe(channel, { stream: stream(1), project: "shop" })
    const byId = subscribe(channel, { stream: stream(1), project: uuid("0005", 1) })
    const other = subscribe(channel, { stream: stream(1), project: "other" })
    const env = subscribe(channel, whole)
    add(channel, published(1), emitted(1), emitted(2), emitted(4, "other"))
    assert.deepStrictEqual([all, byName, byId, other, env].map(taken), [["1", "4"], ["1"], ["1", "4"], ["4"], ["1"]])
  })

  it("cuts off who is too far behind, in messages or in bytes, and nobody else", () => {
    const channel = channelOf("c")
    const slow = subscribe(channel, whole)
    const quick = subscribe(channel, whole)
    let isCut = false
    slow.onCut(() => {
      isCut = true
    })
    for (let n = 0; n < 60; n++) {
      add(channel, published(n))
      assert.deepStrictEqual(taken(quick), [String(n)])
    }
    assert.isTrue(isCut)
    assert.strictEqual(taken(slow), "cut")
    const heavy = subscribe(channel, { stream: stream(1), project: null })
    add(channel, emitted(1, "shop", "x".repeat(300_000)))
    add(channel, emitted(1, "shop", "x".repeat(300_000)))
    assert.strictEqual(taken(heavy), "cut")
    assert.deepStrictEqual(taken(quick), [])
  })

  it("keeps no more than it may", () => {
    const channel = channelOf("c", { replayBytes: 300_000 })
    for (let n = 0; n < 250; n++) add(channel, published(n))
    const marks = Array.from({ length: 100 }, (_, index) => String(150 + index))
    assert.deepStrictEqual(
      channel.keptSince(whole, 0).map(({ activity }) => markOf(activity)),
      marks
    )
    for (let n = 0; n < 20; n++) add(channel, emitted(1, "shop", "x".repeat(50_000)))
    assert.isAtMost(channel.bytes, 300_000)
    assert.isAbove(channel.bytes, 100_000)
    channel.shrink(0)
    assert.strictEqual(channel.bytes, 0)
    assert.deepStrictEqual(channel.keptSince(whole, 0), [])
  })

  it("takes no position for its own that is not", () => {
    const channel = channelOf("node-1")
    add(channel, published(1), published(2))
    for (const after of ["", "1", "node-1", "node-1-", "node-1-x-t0", "node-1--1-t0", "node-1-3-t0", "node-11-1-t0"]) {
      assert.deepStrictEqual(taken(subscribe(channel, whole, after)), [], after)
    }
    assert.deepStrictEqual(taken(subscribe(channel, whole, "node-2-0-t0")), [])
    assert.deepStrictEqual(taken(subscribe(channel, whole, "node-1-1")), [])
    assert.deepStrictEqual(taken(subscribe(channel, whole, "node-1-1-t0")), ["2"])
  })

  it("knows what it does not keep any more", () => {
    const channel = new Channel("c", { ...bounds, replayMessages: 2 }, 100, turns)
    assert.isTrue(channel.keeps({ channel: "c", seq: 0, time: 100 }))
    for (const n of [1, 2, 3]) channel.add(published(n), 100 + n)
    channel.flush()
    assert.deepStrictEqual(
      [0, 1, 2, 3, 4].map((seq) => channel.keeps({ channel: "c", seq, time: 0 })),
      [false, true, true, true, false]
    )
  })

  it("gives what was missed once, whether the store or the feed tells first", () => {
    const channel = channelOf("c")
    const subscription = subscribe(channel, whole)
    add(channel, published(1))
    const happened = [1, 2, 3].map((n) => ({ at: Timestamp.make(n), activity: published(n) }))
    const missing = channel.missing(happened)
    assert.deepStrictEqual(missing.map(markOf), ["2", "3"])
    for (const activity of missing) channel.retell(activity, 5)
    channel.flush()
    add(channel, published(3), published(4))
    assert.deepStrictEqual(taken(subscription), ["1", "2", "3", "4"])
  })

  it("ends its subscriptions after what they have not taken", () => {
    const channel = channelOf("c")
    const env = subscribe(channel, whole)
    const one = subscribe(channel, { stream: stream(1), project: null })
    add(channel, published(1))
    channel.close()
    assert.deepStrictEqual([taken(env), taken(env), taken(one)], [["1"], "closed", "closed"])
  })

  it("leaves more time to one that waits for what it missed, and then as much as to anybody", () => {
    const channel = channelOf("c")
    const waiting = channel.join(whole, { channel: "other", seq: 0, time: 0 })
    waiting.awaitMissed()
    for (let n = 0; n < 200; n++) add(channel, published(n))
    assert.strictEqual(waiting.isOver, false)
    waiting.prepend([], () => undefined)
    add(channel, published(200))
    assert.lengthOf(taken(waiting), 201)
    for (let n = 0; n < 51; n++) add(channel, published(n))
    assert.strictEqual(taken(waiting), "cut")
  })

  it("gives what was missed in parts, and says when it was dealt with", () => {
    const channel = channelOf("c", { replayMessages: 1000, queue: { messages: 1000, bytes: 1_000_000 } })
    const first = subscribe(channel, whole)
    for (let n = 0; n < 600; n++) add(channel, published(n))
    const missed = portionsOf(first)
    const waiting = channel.join(whole, { channel: "other", seq: 0, time: 0 })
    let isDone = false
    waiting.prepend(missed.flat(), () => {
      isDone = true
    })
    const given = portionsOf(waiting)
    assert.deepStrictEqual(
      given.map(({ length }) => length),
      [88, 256, 256]
    )
    assert.deepStrictEqual(given.flat(), missed.flat())
    assert.isFalse(isDone)
    assert.deepStrictEqual(taken(waiting), [])
    assert.isTrue(isDone)
  })

  it("tells who was cut off before it listened for that when it takes, not before it could answer", () => {
    const refused = subscribe(channelOf("c"), whole)
    Effect.runSync(refused.end("cut"))
    refused.onCut(() => assert.fail("called back"))
    assert.strictEqual(taken(refused), "cut")
  })

  it("loses and repeats nothing for who comes back, wherever it was cut off", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("add", "add two", "take", "leave"), { maxLength: 80 }), (steps) => {
        const channel = channelOf("c", { replayMessages: 1000, queue: { messages: 1000, bytes: 1_000_000 } })
        let n = 0
        let subscription = subscribe(channel, whole)
        let last = subscription.begin
        const heard: Array<string> = []
        const hear = () => {
          const news = Effect.runSync(Effect.andThen(subscription.nudge, subscription.take))
          for (const { activity, position } of typeof news === "string" ? [] : news.flat()) {
            heard.push(markOf(activity))
            last = position
          }
        }
        for (const step of steps) {
          if (step === "add") add(channel, published(n++))
          if (step === "add two") add(channel, published(n++), published(n++))
          if (step === "take") hear()
          if (step !== "leave") continue
          subscription = subscribe(channel, whole, last)
        }
        hear()
        assert.deepStrictEqual(
          heard,
          Array.from({ length: n }, (_, index) => String(index))
        )
      })
    )
  })
})
