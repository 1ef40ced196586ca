/** What a shared feed sends, and what it makes of what it hears: in virtual time, on a way within this process. */
import { assert, describe, it } from "@effect/vitest"
import { FeedNet } from "@weft/contract"
import { type Activity, type Feed, JsonText } from "@weft/core"
import { Effect, Exit, type Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { gather } from "../src/FeedSamples.ts"
import { timeOf } from "../src/LifecycleNodes.ts"
import { envId, eventId, projectId, runId, streamId } from "../src/Samples.ts"
import { feedLine } from "./FeedLine.ts"

const { during, pass } = timeOf(Effect.promise(() => new Promise((resolve) => setImmediate(resolve))))

/** Lets what is under way happen. */
const settle = pass(100)

const event = (n: number): Activity => ({
  type: "event:created",
  env_id: envId(1),
  event_id: eventId(n),
  stream_id: streamId(n),
  event_type: "order:created"
})

const stopped = (n: number, bytes: number): Activity => ({
  type: "run:stop",
  env_id: envId(1),
  run_id: runId(n),
  stream_id: streamId(n),
  run_type: "event",
  project_id: projectId(1),
  project_name: "shop",
  result: JsonText.make(JSON.stringify("x".repeat(bytes)))
})

const counted = (feed: Feed["Service"], name: string, kind?: string) =>
  Effect.map(feed.counted, (series) =>
    series
      .filter((each) => each.name === name && (kind === undefined || each.labels.kind === kind))
      .reduce((sum, each) => sum + ("value" in each ? each.value : 0), 0)
  )

/** A way whose texts are kept, and may be kept back. */
const recorded = () => {
  const texts: Array<string> = []
  let isHeldBack = false
  const layer = feedLine({
    sent: (sent) => {
      texts.push(...sent)
      return isHeldBack ? [] : sent
    }
  })
  const holdBack = (hold: boolean): void => {
    isHeldBack = hold
  }
  /** What is told by it is lost on the way. */
  const lost = Effect.fnUntraced(function* (telling: Effect.Effect<void>) {
    holdBack(true)
    yield* telling
    yield* settle
    holdBack(false)
  })
  return { texts, layer, holdBack, lost }
}

const pair = Effect.gen(function* () {
  const { node } = yield* FeedNet
  return [yield* node, yield* node] as const
})

const on = <A, E>(layer: Layer.Layer<FeedNet>, body: Effect.Effect<A, E, FeedNet | Scope.Scope>) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const exit = yield* Effect.exit(Scope.provide(body, scope))
    // Nodes take their time to say farewell.
    yield* during(Scope.close(scope, exit))
    return yield* exit
  }).pipe(Effect.provide(layer))

describe("a shared feed", () => {
  it.effect(
    "sends nothing in an hour in which nothing is to be told, and three words a minute where it watches",
    () => {
      const { layer, texts } = recorded()
      return on(
        layer,
        Effect.gen(function* () {
          const { node } = yield* FeedNet
          yield* node
          const two = yield* node
          // After their first words both are heard once more.
          yield* pass(60_000)
          const begun = texts.length
          yield* pass(3_600_000)
          assert.strictEqual(texts.length, begun)
          yield* gather(two.activity)
          yield* pass(600_000)
          assert.isAtMost(texts.length - begun, 30)
        })
      )
    }
  )

  it.effect("goes on telling who goes on watching, and stops for who has died", () => {
    const { layer, holdBack, texts } = recorded()
    return on(
      layer,
      Effect.gen(function* () {
        const { node } = yield* FeedNet
        const one = yield* node
        const dying = yield* Scope.make()
        const two = yield* Scope.provide(node, dying)
        const heard = yield* Scope.provide(gather(two.activity), dying)
        yield* pass(600_000)
        yield* one.publish([event(1)])
        yield* settle
        assert.deepStrictEqual(heard, [event(1)])
        // Its farewell is lost, as that of a process that is killed.
        holdBack(true)
        yield* Effect.forkChild(Scope.close(dying, Exit.void))
        yield* pass(2000)
        holdBack(false)
        const before = texts.length
        yield* one.publish([event(2)])
        yield* settle
        assert.strictEqual(texts.length, before + 1)
        yield* pass(120_000)
        // It was heard once more meanwhile, in case that the event was lost.
        assert.strictEqual(texts.length, before + 2)
        yield* one.publish([event(3)])
        yield* settle
        assert.strictEqual(texts.length, before + 2)
      })
    )
  })

  it.effect("tells of a gap where the last text of another was lost on the way, though that says nothing more", () => {
    const { layer, lost } = recorded()
    return on(
      layer,
      Effect.gen(function* () {
        const [one, two] = yield* pair
        yield* pass(60_000)
        const gaps = yield* gather(two.gaps)
        yield* lost(one.tell([{ type: "schedules:changed" }]))
        assert.deepStrictEqual(gaps, [])
        yield* pass(60_000)
        assert.deepStrictEqual(
          gaps.map((gap) => gap.of),
          ["everything"]
        )
      })
    )
  })

  it.effect("tells of a gap where a text of another was lost on the way", () => {
    const { layer, lost } = recorded()
    return on(
      layer,
      Effect.gen(function* () {
        const [one, two] = yield* pair
        yield* settle
        const gaps = yield* gather(two.gaps)
        const news = yield* gather(two.news)
        yield* one.tell([{ type: "tenants:changed" }])
        yield* settle
        yield* lost(one.tell([{ type: "schedules:changed" }]))
        assert.lengthOf(gaps, 0)
        yield* one.tell([{ type: "tenants:changed" }])
        yield* settle
        assert.deepStrictEqual(
          news.map(({ type }) => type),
          ["tenants:changed", "tenants:changed"]
        )
        assert.deepStrictEqual(
          gaps.map((gap) => gap.of),
          ["everything"]
        )
      })
    )
  })

  it.effect("gives up the oldest activity, and no news, when too much waits, and says so", () => {
    const { layer } = recorded()
    return on(
      layer,
      Effect.gen(function* () {
        const { node, cut, mend } = yield* FeedNet
        const one = yield* node
        const two = yield* node
        const heard = yield* gather(two.activity)
        const news = yield* gather(two.news)
        yield* settle
        yield* cut
        yield* one.tell([{ type: "tenants:changed" }])
        for (let n = 1; n <= 30; n++) yield* one.publish([stopped(n, 1024 * 1024)])
        yield* pass(5000)
        const dropped = yield* counted(one, "weft_feed_dropped_total", "activity")
        assert.isAbove(dropped, 10)
        assert.strictEqual(yield* counted(one, "weft_feed_connected"), 0)
        const before = yield* counted(two, "weft_feed_gaps_total")
        yield* mend
        yield* pass(20_000)
        assert.lengthOf(news, 1)
        const ids = heard.map((each) => ("run_id" in each ? each.run_id : ""))
        // The first was under way when the way was cut.
        assert.includeMembers(ids, [runId(30), runId(29), runId(28)])
        assert.strictEqual(ids.length, 30 - dropped)
        assert.isAbove(yield* counted(two, "weft_feed_gaps_total"), before + 1)
        assert.strictEqual(yield* counted(one, "weft_feed_dropped_total", "news"), 0)
      })
    )
  })

  it.effect("gathers what comes while it sends, and says the same news once", () => {
    const { layer, texts } = recorded()
    return on(
      layer,
      Effect.gen(function* () {
        const { node } = yield* FeedNet
        const one = yield* node
        const two = yield* node
        const news = yield* gather(two.news)
        yield* settle
        const before = texts.length
        for (let n = 0; n < 1000; n++) {
          yield* one.tell([{ type: "deliveries:waiting", node_id: null }])
          if (n % 100 === 99) yield* TestClock.adjust(1)
        }
        yield* settle
        assert.isAtMost(texts.length - before, 4)
        assert.isAbove(news.length, 0)
        assert.isAtMost(news.length, 4)
      })
    )
  })
})
