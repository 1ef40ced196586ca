/**
 * What every feed that nodes share must do. Adapters run this suite; they do not copy it.
 *
 * In real time, since what is between the nodes is real.
 */
import { assert, describe, it } from "@effect/vitest"
import { type Activity, now as currentTime, type Feed, type Gap, JsonText, type News } from "@weft/core"
import { Context, Effect, Exit, type Layer, Scope } from "effect"
import * as fc from "fast-check"
import { type Check, check } from "./Check.ts"
import { anyActivity, anyNews, gather } from "./FeedSamples.ts"
import { bigJson, envId, eventId, hostileText, nodeId, projectId, runId, streamId } from "./Samples.ts"

type Node = Feed["Service"]

/** What is between nodes, and the nodes. */
export class FeedNet extends Context.Service<
  FeedNet,
  {
    /** A node more, until the scope closes. */
    readonly node: Effect.Effect<Node, unknown, Scope.Scope>
    /** A node of another system on the same servers. */
    readonly stranger: Effect.Effect<Node, unknown, Scope.Scope>
    /** Ends what is between the nodes, as a crash would. */
    readonly cut: Effect.Effect<void>
    readonly mend: Effect.Effect<void>
  }
>()("@weft/contract/FeedNet") {}

export const feedContract = <E>(name: string, layer: Layer.Layer<FeedNet, E>): void => {
  describe(`Feed contract: ${name}`, () => {
    for (const { name: claim, body } of feedChecks) it.live(claim, () => Effect.provide(body, layer))
  })
}

/** How long others may take to answer a node that asks who wants activity. */
const answered = "5500 millis"
/** More than messages take. */
const soon = "300 millis"

const patienceMs = 10_000

const until = (what: string, isTrue: () => boolean): Effect.Effect<void> =>
  Effect.gen(function* () {
    const end = (yield* currentTime) + patienceMs
    while (!isTrue()) {
      if ((yield* currentTime) > end) return assert.fail(`waited in vain for ${what}`)
      yield* Effect.sleep(5)
    }
  })

const event = (n: number, event_type = "order:created"): Activity => ({
  type: "event:created",
  env_id: envId(1),
  event_id: eventId(n),
  stream_id: streamId(n),
  event_type
})

const stopped = (n: number, result: JsonText): Activity => ({
  type: "run:stop",
  env_id: envId(1),
  run_id: runId(n),
  stream_id: streamId(n),
  run_type: "event",
  project_id: projectId(1),
  project_name: hostileText,
  result
})

const domain = (n: number): News => ({ type: "domains:changed", domain: `${n}.example` })

const idsOf = (heard: ReadonlyArray<Activity>) => heard.map((each) => ("event_id" in each ? each.event_id : each.type))

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

/** How often the node has sent something. */
const sendings = (node: Node) =>
  Effect.map(node.counted, (series) => {
    const found = series.find(({ name }) => name === "weft_feed_sendings_total")
    return found !== undefined && "value" in found ? found.value : assert.fail("the feed does not count what it sends")
  })

const twoNodes = Effect.gen(function* () {
  const net = yield* FeedNet
  return { one: yield* net.node, two: yield* net.node, net }
})

const inScope = <Eff extends Effect.Effect<unknown, unknown, unknown>>(body: () => Generator<Eff, void>) =>
  function* () {
    yield* Effect.scoped(Effect.gen(body))
  }

const messageChecks: ReadonlyArray<Check<FeedNet>> = [
  check(
    "the messages of a node are heard once and in order, by others and by itself",
    inScope(function* () {
      const { one, two } = yield* twoNodes
      const own = yield* gather(one.activity)
      const others = yield* gather(two.activity)
      const ownNews = yield* gather(one.news)
      const othersNews = yield* gather(two.news)
      yield* Effect.sleep(soon)
      for (const n of range(1, 100)) {
        yield* one.publish(range(10 * n, 10 * n + 9).map((each) => event(each)))
        yield* one.tell([domain(n)])
        if (n % 10 === 0) yield* Effect.sleep(1)
      }
      const all = range(10, 1009).map(eventId)
      yield* until("activity", () => others.length >= 1000)
      yield* until("news", () => othersNews.length >= 100)
      yield* Effect.sleep(soon)
      assert.deepStrictEqual(idsOf(own), all)
      assert.deepStrictEqual(idsOf(others), all)
      assert.deepStrictEqual(ownNews, range(1, 100).map(domain))
      assert.deepStrictEqual(othersNews, range(1, 100).map(domain))
    })
  ),

  check(
    "messages of all kinds arrive as they were sent",
    inScope(function* () {
      const { one, two } = yield* twoNodes
      const heard = yield* gather(two.activity)
      const heardNews = yield* gather(two.news)
      yield* Effect.sleep(soon)
      const activity = fc.sample(anyActivity, { numRuns: 200, seed: 1 })
      const news = fc.sample(anyNews, { numRuns: 200, seed: 2 })
      yield* one.publish(activity)
      for (const each of news) yield* one.tell([each])
      yield* until("activity", () => heard.length >= activity.length)
      assert.deepStrictEqual(heard, activity)
      // What is said twice within moments may be heard once.
      const distinct = (told: ReadonlyArray<News>) => [...new Set(told.map((each) => JSON.stringify(each)))]
      yield* until("news", () => distinct(heardNews).length >= distinct(news).length)
      assert.sameMembers(distinct(heardNews), distinct(news))
    })
  ),

  check(
    "large messages arrive whole, between small ones",
    inScope(function* () {
      const { one, two } = yield* twoNodes
      const heard = yield* gather(two.activity)
      yield* Effect.sleep(soon)
      const letters = JsonText.make(JSON.stringify("\ufeff🧵é".repeat(150_000)))
      const sent = [event(1), stopped(2, bigJson), event(3, hostileText), stopped(4, letters), event(5)]
      yield* one.publish(sent)
      yield* until("all of them", () => heard.length >= sent.length)
      assert.isTrue(heard.every((each, index) => JSON.stringify(each) === JSON.stringify(sent[index])))
      assert.lengthOf(heard, sent.length)
    })
  ),

  check(
    "nothing is heard from other systems",
    inScope(function* () {
      const { one, two, net } = yield* twoNodes
      const stranger = yield* net.stranger
      const heard = yield* gather(two.activity)
      const heardNews = yield* gather(two.news)
      yield* gather(stranger.activity)
      yield* Effect.sleep(soon)
      yield* stranger.publish([event(1)])
      yield* stranger.tell([domain(1)])
      yield* one.publish([event(2)])
      yield* one.tell([domain(2)])
      yield* until("both", () => heard.length > 0 && heardNews.length > 0)
      yield* Effect.sleep(soon)
      assert.deepStrictEqual(heard, [event(2)])
      assert.deepStrictEqual(heardNews, [domain(2)])
    })
  ),

  check(
    "the last words of a node that is closed are heard",
    inScope(function* () {
      const { one, net } = yield* twoNodes
      const heard = yield* gather(one.activity)
      const heardNews = yield* gather(one.news)
      const scope = yield* Scope.make()
      const leaving = yield* Scope.provide(net.node, scope)
      yield* Effect.sleep(soon)
      yield* leaving.publish(range(1, 50).map((n) => event(n)))
      yield* leaving.tell([{ type: "deliveries:waiting", node_id: nodeId(7) }])
      yield* Scope.close(scope, Exit.void)
      yield* until("all of them", () => heard.length >= 50 && heardNews.length >= 1)
      assert.deepStrictEqual(idsOf(heard), range(1, 50).map(eventId))
    })
  )
]

const interestChecks: ReadonlyArray<Check<FeedNet>> = [
  check(
    "nothing is sent while nobody else wants to hear it",
    inScope(function* () {
      const { one, two } = yield* twoNodes
      const own = yield* gather(one.activity)
      yield* Effect.sleep(answered)
      const before = yield* sendings(one)
      for (const n of range(1, 20)) yield* Effect.andThen(one.publish([event(n)]), Effect.sleep(10))
      assert.strictEqual(yield* sendings(one), before)
      assert.lengthOf(own, 20)

      const scope = yield* Scope.make()
      const heard = yield* Scope.provide(gather(two.activity), scope)
      for (let n = 21; heard.length === 0 && n < 221; n++) {
        yield* Effect.andThen(one.publish([event(n)]), Effect.sleep(50))
      }
      assert.isAbove(heard.length, 0)
      assert.isAbove(yield* sendings(one), before)

      yield* Scope.close(scope, Exit.void)
      for (let last = -1; last < (yield* sendings(one)); ) {
        last = yield* sendings(one)
        yield* Effect.andThen(Effect.sleep(soon), one.publish([event(1)]))
        yield* Effect.sleep(soon)
      }
      const after = yield* sendings(one)
      for (const n of range(300, 320)) yield* Effect.andThen(one.publish([event(n)]), Effect.sleep(10))
      assert.strictEqual(yield* sendings(one), after)
    })
  ),

  check(
    "a node that starts is heard from its first message on, also after others could have answered",
    inScope(function* () {
      const net = yield* FeedNet
      const one = yield* net.node
      const heard = yield* gather(one.activity)
      yield* Effect.sleep(soon)
      const two = yield* net.node
      yield* two.publish([event(1)])
      yield* until("the first", () => heard.length === 1)
      yield* Effect.sleep(answered)
      yield* two.publish([event(2)])
      yield* until("the second", () => heard.length === 2)
    })
  ),

  check(
    "a node that begins to want activity is told that some may be missing, and of no missing news",
    inScope(function* () {
      const { two } = yield* twoNodes
      const gaps = yield* gather(two.gaps)
      yield* Effect.sleep(soon)
      const before = yield* currentTime
      yield* gather(two.activity)
      const after = yield* currentTime
      yield* until("a gap", () => gaps.length > 0)
      const [gap] = gaps
      assert.strictEqual(gap?.of, "activity")
      assert.isTrue(gap !== undefined && gap.since >= before && gap.since <= after)
    })
  )
]

const gapChecks: ReadonlyArray<Check<FeedNet>> = [
  check(
    "what was said while the way was cut is heard when it is back, after a gap was told",
    inScope(function* () {
      const { one, two, net } = yield* twoNodes
      const heard = yield* gather(two.activity)
      const heardNews = yield* gather(two.news)
      const gaps: Array<Gap> = yield* gather(two.gaps)
      const own = yield* gather(one.news)
      yield* Effect.sleep(soon)
      yield* one.publish([event(1)])
      yield* until("the first", () => heard.length > 0)
      const cutAt = yield* currentTime
      yield* net.cut
      yield* until("it to be noticed", () => one.awaySince() !== null && two.awaySince() !== null)
      assert.isAtMost(two.awaySince() ?? 0, yield* currentTime)
      yield* one.publish([event(2)])
      yield* one.tell([domain(1)])
      assert.deepStrictEqual(own, [domain(1)])
      yield* net.mend
      yield* until("the way to be back", () => one.awaySince() === null && two.awaySince() === null)
      yield* until("a gap", () => gaps.some((gap) => gap.of === "everything"))
      const gap = gaps.find(({ of }) => of === "everything")
      assert.isAtMost(gap?.since ?? 0, cutAt + 2000)
      // What the sender sends before this node is back, the gap stands for.
      for (let n = 3; heard.length < 2; n++) yield* Effect.andThen(one.publish([event(n)]), Effect.sleep(100))
      for (let n = 2; heardNews.length < 1; n++) yield* Effect.andThen(one.tell([domain(n)]), Effect.sleep(100))
      assert.strictEqual(new Set(idsOf(heard)).size, heard.length)
    })
  ),

  check(
    "a way that is cut again and again is found again",
    inScope(function* () {
      const { one, two, net } = yield* twoNodes
      const heard = yield* gather(two.news)
      for (const round of range(1, 3)) {
        yield* net.cut
        yield* until("it to be noticed", () => one.awaySince() !== null && two.awaySince() !== null)
        yield* net.mend
        yield* until("the way to be back", () => one.awaySince() === null && two.awaySince() === null)
        yield* one.tell([domain(round)])
        yield* until("news", () =>
          heard.some((each) => each.type === "domains:changed" && each.domain === `${round}.example`)
        )
      }
    })
  )
]

export const feedChecks: ReadonlyArray<Check<FeedNet>> = [...messageChecks, ...interestChecks, ...gapChecks]
