/** How far positions go: never beyond what a node can have told. */
import { assert, describe, it } from "@effect/vitest"
import { type Activity, EnvId, Feed, type Gap, MemoryStores, StoreUnavailable, StreamId, Timestamp } from "@weft/core"
import { Clock, Deferred, Effect, Latch, PubSub } from "effect"
import { TestClock } from "effect/testing"
import { Untold } from "../../src/journal/Untold.ts"
import { Channel } from "../../src/streams/Channel.ts"
import { makeHorizon } from "../../src/streams/Horizon.ts"
import type { Missed } from "../../src/streams/Missed.ts"
import { Turns } from "../../src/streams/Turns.ts"

const env_id = EnvId.make("01976a2b-0001-7000-8000-000000000001")
const created: Activity = {
  type: "stream:created",
  env_id,
  stream_id: StreamId.make("01976a2b-0002-7000-8000-000000000001")
}
const bounds = { replayMessages: 10, replayBytes: 10_000, queue: { messages: 10, bytes: 10_000 } }

/** A channel of the environment, and a feed whose ways the test decides. */
const world = Effect.fnUntraced(function* (ofChannel: Missed["ofChannel"]) {
  const feed = yield* Feed
  const gaps = yield* PubSub.unbounded<Gap>()
  const state: { awaySince: Timestamp | null; untold: Timestamp | null } = { awaySince: null, untold: null }
  const untold = Untold.of({
    during: (writing) => writing,
    since: () => undefined,
    waiting: () => undefined,
    answered: Effect.void,
    oldest: () => state.untold
  })
  const turns = yield* Turns.make
  const channel = new Channel("c", bounds, 0, turns)
  const opened = new Map([[env_id, { channel, leftAt: null }]])
  const missed: Missed = { ofChannel, note: () => undefined, resume: () => assert.fail("nobody comes") }
  const horizon = yield* makeHorizon(opened, missed, Latch.makeUnsafe(true), turns).pipe(
    Effect.provideService(Feed, { ...feed, gaps: PubSub.subscribe(gaps), awaySince: () => state.awaySince }),
    Effect.provideService(Untold, untold)
  )
  const gap = (since: number) => PubSub.publish<Gap>(gaps, { since: at(since), of: "everything" })
  return { state, horizon, channel, gap }
})

const at = (millis: number) => Timestamp.make(millis)

const turn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

describe("the horizon", () => {
  it.effect("is now, while everything is heard and handed out", () =>
    Effect.gen(function* () {
      const { horizon } = yield* world(() => Effect.succeed([]))
      yield* TestClock.adjust(3000)
      assert.strictEqual(horizon.advance(true), 3000)
      yield* TestClock.adjust(1000)
      assert.strictEqual(horizon.advance(false), 3000)
      assert.strictEqual(horizon.advance(true), 4000)
    }).pipe(Effect.scoped, Effect.provide(MemoryStores.feed))
  )

  it.effect("waits at what is perhaps stored and not told, and never goes back", () =>
    Effect.gen(function* () {
      const { horizon, state } = yield* world(() => Effect.succeed([]))
      yield* TestClock.adjust(3000)
      state.untold = at(2500)
      assert.strictEqual(horizon.advance(true), 2500)
      yield* TestClock.adjust(1000)
      assert.strictEqual(horizon.advance(true), 2500)
      state.untold = at(2000)
      assert.strictEqual(horizon.advance(true), 2500)
      state.untold = null
      assert.strictEqual(horizon.advance(true), 4000)
    }).pipe(Effect.scoped, Effect.provide(MemoryStores.feed))
  )

  it.effect("stands still while others are not heard, and until the store has told what was missed", () =>
    Effect.gen(function* () {
      const answer = yield* Deferred.make<ReadonlyArray<Activity>>()
      let asked = 0
      const { horizon, state, gap, channel } = yield* world((_env, _channel, since) => {
        asked++
        assert.strictEqual(since, 900)
        return asked === 1
          ? Effect.fail(new StoreUnavailable({ operation: "since", cause: "away" }))
          : Deferred.await(answer)
      })
      yield* TestClock.adjust(1000)
      assert.strictEqual(horizon.advance(true), 1000)
      state.awaySince = at(900)
      yield* TestClock.adjust(1000)
      assert.strictEqual(horizon.advance(true), 1000)
      yield* gap(900)
      yield* turn
      state.awaySince = null
      yield* TestClock.adjust(2000)
      assert.strictEqual(asked, 2)
      assert.strictEqual(horizon.advance(true), 1000)
      yield* Deferred.succeed(answer, [created])
      yield* turn
      assert.strictEqual(horizon.advance(true), 4000)
      const [told] = channel.keptSince({ stream: null }, 0)
      assert.strictEqual(told?.time, 1000)
    }).pipe(Effect.scoped, Effect.provide(MemoryStores.feed))
  )

  it.effect("stands still for a while after the process was stopped: what came meanwhile is on its way", () =>
    Effect.gen(function* () {
      let now = 1_000_000
      const nanos = () => BigInt(now) * 1_000_000n
      // Nothing that sleeps wakes up.
      const clock: Clock.Clock = {
        currentTimeMillisUnsafe: () => now,
        currentTimeMillis: Effect.sync(() => now),
        currentTimeNanosUnsafe: nanos,
        currentTimeNanos: Effect.sync(nanos),
        monotonicTimeNanosUnsafe: nanos,
        monotonicTimeNanos: Effect.sync(nanos),
        sleep: () => Effect.never
      }
      const { horizon } = yield* world(() => Effect.succeed([])).pipe(Effect.provideService(Clock.Clock, clock))
      now += 1000
      assert.strictEqual(horizon.advance(true), now)
      const stoppedAt = now
      now += 60_000
      assert.strictEqual(horizon.advance(true), stoppedAt)
      horizon.tick()
      now += 1000
      assert.strictEqual(horizon.advance(true), stoppedAt)
      horizon.tick()
      now += 4000
      assert.strictEqual(horizon.advance(true), now)
    }).pipe(Effect.scoped, Effect.provide(MemoryStores.feed))
  )
})
