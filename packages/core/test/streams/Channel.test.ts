/** The rules of a channel: numbering, keeping, handing out, cutting off. Plain state, no clock. */
import { assert, describe, it } from "@effect/vitest"
import { type Activity, EnvId, EventId, JsonText, ProjectId, RunId, StreamId } from "@weft/core"
import { Effect } from "effect"
import fc from "fast-check"
import { Channel, type Interest } from "../../src/streams/Channel.ts"
import type { Subscription } from "../../src/streams/Subscription.ts"

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
  for (const activity of activities) channel.add(activity)
  channel.flush()
}

/** What there is to be taken now, by the marks of the samples; or how it ended. */
const taken = (subscription: Subscription): ReadonlyArray<string> | string => {
  const news = Effect.runSync(Effect.andThen(subscription.nudge, subscription.take))
  if (typeof news === "string") return news
  return news.flat().map(({ activity }) => ("data_type" in activity ? activity.data_type : markOf(activity)))
}
const markOf = (activity: Activity): string => ("event_type" in activity ? activity.event_type : activity.type)

describe("a channel", () => {
  it("gives a subscriber what comes from then on, in order", () => {
    const channel = new Channel("c", bounds)
    add(channel, published(1))
    const subscription = channel.subscribe(whole, null)
    add(channel, published(2), published(3))
    add(channel, published(4))
    assert.deepStrictEqual(taken(subscription), ["2", "3", "4"])
    assert.deepStrictEqual(taken(subscription), [])
  })

  it("does not give twice what was added but not yet handed out when somebody came", () => {
    const channel = new Channel("c", bounds)
    const before = channel.subscribe(whole, null)
    channel.add(published(1))
    const after = channel.subscribe(whole, before.begin)
    channel.flush()
    assert.deepStrictEqual(taken(before), ["1"])
    assert.deepStrictEqual(taken(after), ["1"])
  })

  it("gives a stream what runs do and emit in it, of the project that is asked for", () => {
    const channel = new Channel("c", bounds)
    const all = channel.subscribe({ stream: stream(1), project: null }, null)
    const byName = channel.subscribe({ stream: stream(1), project: "shop" }, null)
    const byId = channel.subscribe({ stream: stream(1), project: uuid("0005", 1) }, null)
    const other = channel.subscribe({ stream: stream(1), project: "other" }, null)
    const env = channel.subscribe(whole, null)
    add(channel, published(1), emitted(1), emitted(2), emitted(4, "other"))
    assert.deepStrictEqual([all, byName, byId, other, env].map(taken), [["1", "4"], ["1"], ["1", "4"], ["4"], ["1"]])
  })

  it("cuts off who is too far behind, in messages or in bytes, and nobody else", () => {
    const channel = new Channel("c", bounds)
    const slow = channel.subscribe(whole, null)
    const quick = channel.subscribe(whole, null)
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
    const heavy = channel.subscribe({ stream: stream(1), project: null }, null)
    add(channel, emitted(1, "shop", "x".repeat(300_000)))
    add(channel, emitted(1, "shop", "x".repeat(300_000)))
    assert.strictEqual(taken(heavy), "cut")
    assert.deepStrictEqual(taken(quick), [])
  })

  it("keeps no more than it may", () => {
    const channel = new Channel("c", { ...bounds, replayBytes: 300_000 })
    const { begin } = channel.subscribe(whole, null)
    for (let n = 0; n < 250; n++) add(channel, published(n))
    const marks = Array.from({ length: 100 }, (_, index) => String(150 + index))
    assert.deepStrictEqual(taken(channel.subscribe(whole, begin)), marks)
    for (let n = 0; n < 20; n++) add(channel, emitted(1, "shop", "x".repeat(50_000)))
    assert.isAtMost(channel.bytes, 300_000)
    assert.isAbove(channel.bytes, 100_000)
    channel.shrink(0)
    assert.strictEqual(channel.bytes, 0)
    assert.deepStrictEqual(taken(channel.subscribe(whole, begin)), [])
  })

  it("takes no position for its own that is not", () => {
    const channel = new Channel("node-1", bounds)
    add(channel, published(1), published(2))
    for (const after of ["", "1", "node-1", "node-1-", "node-1-x", "node-1--1", "node-1-3", "node-11-1", "node-2-0"]) {
      assert.deepStrictEqual(taken(channel.subscribe(whole, after)), [], after)
    }
    assert.deepStrictEqual(taken(channel.subscribe(whole, "node-1-1")), ["2"])
  })

  it("ends its subscriptions after what they have not taken", () => {
    const channel = new Channel("c", bounds)
    const env = channel.subscribe(whole, null)
    const one = channel.subscribe({ stream: stream(1), project: null }, null)
    add(channel, published(1))
    channel.close()
    assert.deepStrictEqual([taken(env), taken(env), taken(one)], [["1"], "closed", "closed"])
  })

  it("loses and repeats nothing for who comes back, wherever it was cut off", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("add", "add two", "take", "leave"), { maxLength: 80 }), (steps) => {
        const channel = new Channel("c", {
          ...bounds,
          replayMessages: 1000,
          queue: { messages: 1000, bytes: 1_000_000 }
        })
        let n = 0
        let subscription = channel.subscribe(whole, null)
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
          subscription = channel.subscribe(whole, last)
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
