/** Subscriptions to streams of an in-memory Weft, in virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { Caller, hostIdentity, Streams, start } from "@weft/core"
import {
  type ActivityEvent,
  ClusterBus,
  EventId,
  fresh,
  JournalStore,
  JsonText,
  now,
  Run,
  RunId,
  StreamId
} from "@weft/core/adapter"
import { MemoryStores, trustedSandbox } from "@weft/core/testing"
import { Effect, Exit, Layer, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { allRuns, asHost, deployed, masterKeys, publish, settle, world } from "../../world.ts"

const modules = {
  shop: { main: { onOrder: Object.assign(() => ({ done: true }), { meta: { event: "order:created" } }) } }
}

const kinds = (batches: ReadonlyArray<ReadonlyArray<{ readonly activity: ActivityEvent }>> | string) =>
  typeof batches === "string" ? batches : batches.flat().map(({ activity }) => activity.type)

const open = (envId: Parameters<typeof hostIdentity>[0], after?: string) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const subscription = yield* Streams.use((streams) => streams.ofEnv(after)).pipe(
      Effect.provideService(Caller, hostIdentity(envId)),
      Scope.provide(scope)
    )
    return { subscription, disconnect: Scope.close(scope, Exit.void) }
  })

describe("Streams", () => {
  it.effect("subscribes before it publishes an event", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event, subscription } = yield* asHost(
        env,
        Streams.use((streams) => streams.withEvent({ type: "order:created", data: null }))
      )
      yield* settle
      const batches = yield* subscription.take
      assert.deepStrictEqual(kinds(batches), ["run:start", "run:stop"])
      const resumed = yield* asHost(
        env,
        Streams.use((streams) => streams.ofStream(event.stream_id, { after: subscription.begin }))
      )
      assert.deepStrictEqual(kinds(yield* resumed.take), ["run:start", "run:stop"])
    }).pipe(Effect.scoped, Effect.provide(world(modules)))
  )

  it.effect("buffers messages until 10 minutes after the last subscriber, and none before the first", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      const first = yield* open(env.env_id)
      yield* publish(env, "plain")
      yield* settle
      assert.deepStrictEqual(kinds(yield* first.subscription.take), ["stream:created", "event:created"])
      yield* first.disconnect
      yield* TestClock.adjust("9 minutes")
      yield* publish(env, "plain")
      yield* settle
      const second = yield* open(env.env_id, first.subscription.begin)
      assert.lengthOf(kinds(yield* second.subscription.take), 4)
      yield* second.disconnect
      yield* TestClock.adjust("12 minutes")
      yield* publish(env, "plain")
      yield* settle
      const third = yield* open(env.env_id)
      yield* third.subscription.wake
      assert.deepStrictEqual(kinds(yield* third.subscription.take), [])
      yield* publish(env, "plain")
      yield* settle
      assert.deepStrictEqual(kinds(yield* third.subscription.take), ["stream:created", "event:created"])
    }).pipe(Effect.provide(world(modules)))
  )

  it.effect("replays from the store what is no longer buffered, in order, with results and without a gap", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      const first = yield* open(env.env_id)
      const { stream_id } = yield* publish(env, "order:created")
      yield* settle
      const received = kinds(yield* first.subscription.take)
      assert.deepStrictEqual(received, ["stream:created", "event:created", "run:start", "run:stop", "event:handled"])
      yield* first.disconnect
      yield* TestClock.adjust("12 minutes")
      const second = yield* open(env.env_id, first.subscription.begin)
      yield* publish(env, "plain")
      yield* settle
      const later = ["stream:created", "event:created"]
      // `event:handled` is not stored.
      const types = kinds(yield* second.subscription.take)
      assert.deepStrictEqual([...types], [...received.slice(0, 4), ...later])

      const ofStream = yield* asHost(
        env,
        Streams.use((streams) => streams.ofStream(stream_id, { after: first.subscription.begin }))
      )
      const runs = yield* ofStream.take
      assert.deepStrictEqual(kinds(runs), ["run:start", "run:stop"])
      const [start, stop] = typeof runs === "string" ? [] : runs.flat()
      assert.isTrue(stop !== undefined && "result" in stop.activity && stop.activity.result === '{"done":true}')
      const resumed = yield* asHost(
        env,
        Streams.use((streams) => streams.ofStream(stream_id, { after: start?.position ?? "" }))
      )
      // Positions of another channel have only a time, so messages shortly before it are repeated.
      assert.deepStrictEqual(kinds(yield* resumed.take), ["run:start", "run:stop"])
    }).pipe(Effect.scoped, Effect.provide(world(modules)))
  )

  it.effect("replays at most 1 hour from the store, and nothing without a valid position", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      const first = yield* open(env.env_id)
      yield* publish(env, "plain")
      yield* first.disconnect
      yield* TestClock.adjust("50 minutes")
      yield* publish(env, "order:created")
      yield* settle
      yield* TestClock.adjust("20 minutes")
      const taken = (after: string) =>
        Effect.gen(function* () {
          const { subscription, disconnect } = yield* open(env.env_id, after)
          yield* subscription.wake
          const received = kinds(yield* subscription.take)
          yield* disconnect
          return received
        })
      assert.lengthOf(yield* taken(first.subscription.begin), 4)
      for (const after of ["", "x", "01970d44-1c90-7a51-9d0c-4a3d2b1c0f6e-1-7", "a-1-t", "a-b-t1"]) {
        assert.deepStrictEqual(yield* taken(after), [], after)
      }
    }).pipe(Effect.provide(world(modules)))
  )

  it.effect("replays what another node stored but did not publish", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      // A subscriber of this node, so that no published message is missed.
      yield* open(env.env_id)
      const at = yield* now
      yield* TestClock.adjust("5 seconds")
      const event = {
        event_id: yield* fresh(EventId),
        stream_id: yield* fresh(StreamId),
        env_id: env.env_id,
        event_type: "dying",
        event_data: JsonText.make("1"),
        event_time: yield* now,
        created_at: yield* now
      }
      yield* JournalStore.use((journal) => journal.commit([{ _tag: "Appended", event, deliveries: [] }], null))
      const reconnect = open(env.env_id, `01976a2b-0001-7000-8000-000000000001-1-7-t${at}`)
      const all = yield* Effect.all(
        Array.from({ length: 20 }, () => reconnect),
        { concurrency: "unbounded" }
      )
      for (const { subscription } of all) {
        assert.deepStrictEqual(kinds(yield* subscription.take), ["stream:created", "event:created"])
      }
    }).pipe(Effect.provide(world(modules).pipe(Layer.provideMerge(SecureRandom.layerWebCrypto))))
  )

  it.effect("replays a repaired gap to clients with a newer position", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      yield* publish(env, "unpublished")
      const since = yield* now
      yield* TestClock.adjust("1 minute")
      const bus = yield* ClusterBus
      yield* open(env.env_id)
      yield* bus.sendControl([{ type: "activity:missing", since }])
      yield* settle
      const reconnect = (time: number) => open(env.env_id, `01976a2b-0001-7000-8000-000000000001-1-7-t${time}`)
      const { subscription } = yield* reconnect((yield* now) - 1_000)
      assert.deepStrictEqual(kinds(yield* subscription.take), ["stream:created", "event:created"])
      const later = yield* reconnect((yield* now) + 20_000)
      yield* later.subscription.wake
      assert.deepStrictEqual(kinds(yield* later.subscription.take), [])
    }).pipe(Effect.provide(world(modules)))
  )

  it.effect("bounds the memory of catch-ups, and accepts others when clients disconnect", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      const first = yield* open(env.env_id)
      const { stream_id } = yield* publish(env, "order:created")
      yield* settle
      yield* first.disconnect
      const [run] = yield* allRuns(env)
      const result = JsonText.make(`"${"x".repeat(4 * 1024 * 1024)}"`)
      const large = Run.make({
        ...(run ?? assert.fail("there is no run")),
        run_id: RunId.make("01890000-0000-7000-8000-0000000000aa"),
        result
      })
      yield* JournalStore.use((journal) => journal.commit([{ _tag: "Ended", run: large, logs: [] }], null))
      yield* TestClock.adjust("12 minutes")

      const resume = Effect.gen(function* () {
        const scope = yield* Scope.make()
        const after = first.subscription.begin
        const watch = Streams.use((streams) => streams.ofStream(stream_id, { after })).pipe(Scope.provide(scope))
        const subscription = yield* asHost(env, watch)
        return { types: kinds(yield* subscription.take), subscription, disconnect: Scope.close(scope, Exit.void) }
      })
      const whole: ReturnType<typeof kinds> = ["run:start", "run:start", "run:stop", "run:stop"]
      const connected = yield* Effect.replicateEffect(resume, 7)
      for (const { types } of connected)
        assert.deepStrictEqual(typeof types === "string" ? types : types.toSorted(), whole)
      assert.strictEqual((yield* resume).types, "cut")
      yield* connected[0]?.disconnect ?? Effect.void
      assert.lengthOf((yield* resume).types, 4)
      assert.strictEqual((yield* resume).types, "cut")
      // A client that takes more has sent its messages, which are freed.
      const caughtUp = connected[1]?.subscription ?? assert.fail("there is no subscriber")
      assert.deepStrictEqual(kinds(yield* Effect.andThen(caughtUp.wake, caughtUp.take)), [])
      assert.lengthOf((yield* resume).types, 4)
      assert.strictEqual((yield* resume).types, "cut")
    }).pipe(Effect.scoped, Effect.provide(world(modules)))
  )

  it.effect("sends no activity of other environments", () =>
    Effect.gen(function* () {
      const shop = yield* deployed("shop")
      const other = yield* deployed("shop", "other")
      const { subscription } = yield* open(other.env_id)
      yield* publish(shop, "order:created")
      yield* publish(other, "plain")
      yield* settle
      assert.deepStrictEqual(kinds(yield* subscription.take), ["stream:created", "event:created"])
    }).pipe(Effect.provide(world(modules)))
  )

  it.effect("distributes more messages at once than a subscriber may queue", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { subscription } = yield* open(env.env_id)
      const bus = yield* ClusterBus
      const { stream_id } = yield* publish(env, "plain")
      yield* Effect.forkScoped(
        bus.publish(Array.from({ length: 5000 }, () => ({ type: "stream:created", env_id: env.env_id, stream_id })))
      )
      let received = 0
      while (received < 5002) {
        const batches = yield* subscription.take
        if (typeof batches === "string") return assert.fail(`it ended: ${batches}`)
        received += batches.flat().length
      }
      assert.strictEqual(received, 5002)
    }).pipe(Effect.scoped, Effect.provide(world(modules)))
  )

  it("provides async iterables to hosts, which end when Weft is closed", async () => {
    const weft = await start({
      database: MemoryStores.database,
      blobs: MemoryStores.blobs,
      sandbox: trustedSandbox(modules),
      masterKeys
    })
    const org = await weft.orgs.create({ slug: "acme" })
    const { env_id } = await weft.envs.create(org.slug, { name: "production" })
    const env = weft.env(env_id)
    const missing = env.streams.watch("01890000-0000-7000-8000-000000000000")[Symbol.asyncIterator]()
    const error = await missing.next().then(
      () => null,
      (reason: { readonly code: string }) => reason
    )
    assert.strictEqual(error?.code, "not_found")
    const { stream_id } = await env.events.publish({ type: "plain", data: null })
    const iterator = env.streams.watch(stream_id)[Symbol.asyncIterator]()
    const ended = iterator.next()
    await new Promise((resolve) => setTimeout(resolve, 50))
    await weft.close()
    assert.strictEqual((await ended).done, true)
  })
})
