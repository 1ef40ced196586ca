/** The watermark never passes activity that the node has not distributed. */
import { assert, describe, it } from "@effect/vitest"
import { EnvId, StoreUnavailable } from "@weft/core"
import { type ActivityEvent, ClusterBus, type Gap, StreamId, Timestamp } from "@weft/core/adapter"
import { MemoryStores } from "@weft/core/testing"
import { Clock, Deferred, Effect, Latch, PubSub } from "effect"
import { TestClock } from "effect/testing"
import { UnconfirmedWrites } from "../../../src/runtime/journal/UnconfirmedWrites.ts"
import type { CatchUp } from "../../../src/runtime/streams/CatchUp.ts"
import { Channel } from "../../../src/runtime/streams/Channel.ts"
import { NotifyQueue } from "../../../src/runtime/streams/NotifyQueue.ts"
import { makeWatermark } from "../../../src/runtime/streams/Watermark.ts"

const env_id = EnvId.make("01976a2b-0001-7000-8000-000000000001")
const created: ActivityEvent = {
  type: "stream:created",
  env_id,
  stream_id: StreamId.make("01976a2b-0002-7000-8000-000000000001")
}
const bounds = { replayMessages: 10, replayBytes: 10_000, queue: { messages: 10, bytes: 10_000 } }

/** A channel of the environment, and a bus that the test controls. */
const world = Effect.fnUntraced(function* (readMissing: CatchUp["readMissing"]) {
  const bus = yield* ClusterBus
  const gaps = yield* PubSub.unbounded<Gap>()
  const state: { disconnectedSince: Timestamp | null; unconfirmed: Timestamp | null } = {
    disconnectedSince: null,
    unconfirmed: null
  }
  const unconfirmed = UnconfirmedWrites.of({
    track: (writing) => writing,
    broadcastFrom: () => undefined,
    trackQueue: () => undefined,
    storeAnswered: Effect.void,
    oldest: () => state.unconfirmed
  })
  const notifyQueue = yield* NotifyQueue.make
  const channel = new Channel("c", bounds, 0, notifyQueue.of(env_id))
  const opened = new Map([[env_id, { channel, idleSince: null }]])
  const catchUp: CatchUp = {
    readMissing,
    recordRepair: () => undefined,
    resume: () => assert.fail("no client resumes")
  }
  const watermark = yield* makeWatermark(opened, catchUp, Latch.makeUnsafe(true), notifyQueue).pipe(
    Effect.provideService(ClusterBus, {
      ...bus,
      gaps: PubSub.subscribe(gaps),
      disconnectedSince: () => state.disconnectedSince
    }),
    Effect.provideService(UnconfirmedWrites, unconfirmed)
  )
  const gap = (since: number) => PubSub.publish<Gap>(gaps, { since: at(since), of: "everything" })
  return { state, watermark, channel, gap }
})

const at = (millis: number) => Timestamp.make(millis)

const nextTurn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

describe("Watermark", () => {
  it.effect("advances to the current time while all messages are received and distributed", () =>
    Effect.gen(function* () {
      const { watermark } = yield* world(() => Effect.succeed([]))
      yield* TestClock.adjust(3000)
      assert.strictEqual(watermark.advance(true), 3000)
      yield* TestClock.adjust(1000)
      assert.strictEqual(watermark.advance(false), 3000)
      assert.strictEqual(watermark.advance(true), 4000)
    }).pipe(Effect.scoped, Effect.provide(MemoryStores.cluster))
  )

  it.effect("stops at the oldest unconfirmed write, and never goes back", () =>
    Effect.gen(function* () {
      const { watermark, state } = yield* world(() => Effect.succeed([]))
      yield* TestClock.adjust(3000)
      state.unconfirmed = at(2500)
      assert.strictEqual(watermark.advance(true), 2500)
      yield* TestClock.adjust(1000)
      assert.strictEqual(watermark.advance(true), 2500)
      state.unconfirmed = at(2000)
      assert.strictEqual(watermark.advance(true), 2500)
      state.unconfirmed = null
      assert.strictEqual(watermark.advance(true), 4000)
    }).pipe(Effect.scoped, Effect.provide(MemoryStores.cluster))
  )

  it.effect("stands still during an outage of the bus, until the catchUp activity was replayed", () =>
    Effect.gen(function* () {
      const reply = yield* Deferred.make<ReadonlyArray<ActivityEvent>>()
      let queries = 0
      const { watermark, state, gap, channel } = yield* world((_env, _channel, since) => {
        queries++
        assert.strictEqual(since, 900)
        return queries === 1
          ? Effect.fail(new StoreUnavailable({ operation: "since", cause: "away" }))
          : Deferred.await(reply)
      })
      yield* TestClock.adjust(1000)
      assert.strictEqual(watermark.advance(true), 1000)
      state.disconnectedSince = at(900)
      yield* TestClock.adjust(1000)
      assert.strictEqual(watermark.advance(true), 1000)
      yield* gap(900)
      yield* nextTurn
      state.disconnectedSince = null
      yield* TestClock.adjust(2000)
      assert.strictEqual(queries, 2)
      assert.strictEqual(watermark.advance(true), 1000)
      yield* Deferred.succeed(reply, [created])
      yield* nextTurn
      assert.strictEqual(watermark.advance(true), 4000)
      const [replayed] = channel.bufferedSince({ stream: null }, 0)
      assert.strictEqual(replayed?.time, 1000)
    }).pipe(Effect.scoped, Effect.provide(MemoryStores.cluster))
  )

  it.effect("stands still for 5 s after the process was suspended", () =>
    Effect.gen(function* () {
      let now = 1_000_000
      const nanos = () => BigInt(now) * 1_000_000n
      // No sleep ends.
      const clock: Clock.Clock = {
        currentTimeMillisUnsafe: () => now,
        currentTimeMillis: Effect.sync(() => now),
        currentTimeNanosUnsafe: nanos,
        currentTimeNanos: Effect.sync(nanos),
        monotonicTimeNanosUnsafe: nanos,
        monotonicTimeNanos: Effect.sync(nanos),
        sleep: () => Effect.never
      }
      const { watermark } = yield* world(() => Effect.succeed([])).pipe(Effect.provideService(Clock.Clock, clock))
      now += 1000
      assert.strictEqual(watermark.advance(true), now)
      const suspendedAt = now
      now += 60_000
      assert.strictEqual(watermark.advance(true), suspendedAt)
      watermark.tick()
      now += 1000
      assert.strictEqual(watermark.advance(true), suspendedAt)
      watermark.tick()
      now += 4000
      assert.strictEqual(watermark.advance(true), now)
    }).pipe(Effect.scoped, Effect.provide(MemoryStores.cluster))
  )
})
