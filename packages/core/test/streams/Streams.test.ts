/** Subscriptions of a whole Weft in memory, in virtual time. */
import { assert, describe, it } from "@effect/vitest"
import {
  type Activity,
  Caller,
  EventId,
  Feed,
  fresh,
  hostIdentity,
  JournalStore,
  JsonText,
  MemoryStores,
  now,
  Run,
  RunId,
  StreamId,
  Streams,
  start,
  trustedSandbox
} from "@weft/core"
import { Effect, Exit, Layer, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { allRuns, asHost, deployed, masterKeys, publish, settle, world } from "../world.ts"

const modules = {
  shop: { main: { onOrder: Object.assign(() => ({ done: true }), { meta: { event: "order:created" } }) } }
}

const kinds = (portions: ReadonlyArray<ReadonlyArray<{ readonly activity: Activity }>> | string) =>
  typeof portions === "string" ? portions : portions.flat().map(({ activity }) => activity.type)

const open = (envId: Parameters<typeof hostIdentity>[0], after?: string) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const subscription = yield* Streams.use((streams) => streams.ofEnv(after)).pipe(
      Effect.provideService(Caller, hostIdentity(envId)),
      Scope.provide(scope)
    )
    return { subscription, leave: Scope.close(scope, Exit.void) }
  })

describe("streams", () => {
  it.effect("are watched from before the event on", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event, subscription } = yield* asHost(
        env,
        Streams.use((streams) => streams.withEvent({ type: "order:created", data: null }))
      )
      yield* settle
      const portions = yield* subscription.take
      assert.deepStrictEqual(kinds(portions), ["run:start", "run:stop"])
      const again = yield* asHost(
        env,
        Streams.use((streams) => streams.ofStream(event.stream_id, { after: subscription.begin }))
      )
      assert.deepStrictEqual(kinds(yield* again.take), ["run:start", "run:stop"])
    }).pipe(Effect.scoped, Effect.provide(world(modules)))
  )

  it.effect("are kept for ten minutes after the last subscriber, and not at all before the first", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      const first = yield* open(env.env_id)
      yield* publish(env, "plain")
      yield* settle
      assert.deepStrictEqual(kinds(yield* first.subscription.take), ["stream:created", "event:created"])
      yield* first.leave
      yield* TestClock.adjust("9 minutes")
      yield* publish(env, "plain")
      yield* settle
      const second = yield* open(env.env_id, first.subscription.begin)
      assert.lengthOf(kinds(yield* second.subscription.take), 4)
      yield* second.leave
      yield* TestClock.adjust("12 minutes")
      yield* publish(env, "plain")
      yield* settle
      const third = yield* open(env.env_id)
      yield* third.subscription.nudge
      assert.deepStrictEqual(kinds(yield* third.subscription.take), [])
      yield* publish(env, "plain")
      yield* settle
      assert.deepStrictEqual(kinds(yield* third.subscription.take), ["stream:created", "event:created"])
    }).pipe(Effect.provide(world(modules)))
  )

  it.effect("are told from the store where nobody keeps them any more, in order, with results and without a gap", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      const first = yield* open(env.env_id)
      const { stream_id } = yield* publish(env, "order:created")
      yield* settle
      const heard = kinds(yield* first.subscription.take)
      assert.deepStrictEqual(heard, ["stream:created", "event:created", "run:start", "run:stop", "event:handled"])
      yield* first.leave
      yield* TestClock.adjust("12 minutes")
      const second = yield* open(env.env_id, first.subscription.begin)
      yield* publish(env, "plain")
      yield* settle
      const later = ["stream:created", "event:created"]
      // That a delivery was handled is stored nowhere.
      const told = kinds(yield* second.subscription.take)
      assert.deepStrictEqual([...told], [...heard.slice(0, 4), ...later])

      const ofStream = yield* asHost(
        env,
        Streams.use((streams) => streams.ofStream(stream_id, { after: first.subscription.begin }))
      )
      const runs = yield* ofStream.take
      assert.deepStrictEqual(kinds(runs), ["run:start", "run:stop"])
      const [start, stop] = typeof runs === "string" ? [] : runs.flat()
      assert.isTrue(stop !== undefined && "result" in stop.activity && stop.activity.result === '{"done":true}')
      const again = yield* asHost(
        env,
        Streams.use((streams) => streams.ofStream(stream_id, { after: start?.position ?? "" }))
      )
      // Positions of another life say when, not which: what came shortly before is told again.
      assert.deepStrictEqual(kinds(yield* again.take), ["run:start", "run:stop"])
    }).pipe(Effect.scoped, Effect.provide(world(modules)))
  )

  it.effect("are told from the store of an hour at most, and to nobody who gives no position", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      const first = yield* open(env.env_id)
      yield* publish(env, "plain")
      yield* first.leave
      yield* TestClock.adjust("50 minutes")
      yield* publish(env, "order:created")
      yield* settle
      yield* TestClock.adjust("20 minutes")
      const taken = (after: string) =>
        Effect.gen(function* () {
          const { subscription, leave } = yield* open(env.env_id, after)
          yield* subscription.nudge
          const heard = kinds(yield* subscription.take)
          yield* leave
          return heard
        })
      assert.lengthOf(yield* taken(first.subscription.begin), 4)
      for (const after of ["", "x", "01970d44-1c90-7a51-9d0c-4a3d2b1c0f6e-1-7", "a-1-t", "a-b-t1"]) {
        assert.deepStrictEqual(yield* taken(after), [], after)
      }
    }).pipe(Effect.provide(world(modules)))
  )

  it.effect("tell who comes from another node what that one stored and told nobody", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      // Somebody watches here all the while, so that nothing that is told is missed.
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
      const come = open(env.env_id, `01976a2b-0001-7000-8000-000000000001-1-7-t${at}`)
      const all = yield* Effect.all(
        Array.from({ length: 20 }, () => come),
        { concurrency: "unbounded" }
      )
      for (const { subscription } of all) {
        assert.deepStrictEqual(kinds(yield* subscription.take), ["stream:created", "event:created"])
      }
    }).pipe(Effect.provide(world(modules).pipe(Layer.provideMerge(SecureRandom.layerWebCrypto))))
  )

  it.effect("tell who comes later what nobody was told, though it had got further", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      yield* publish(env, "untold")
      const since = yield* now
      yield* TestClock.adjust("1 minute")
      const feed = yield* Feed
      yield* open(env.env_id)
      yield* feed.tell([{ type: "activity:missing", since }])
      yield* settle
      const comes = (time: number) => open(env.env_id, `01976a2b-0001-7000-8000-000000000001-1-7-t${time}`)
      const { subscription } = yield* comes((yield* now) - 1_000)
      assert.deepStrictEqual(kinds(yield* subscription.take), ["stream:created", "event:created"])
      const later = yield* comes((yield* now) + 20_000)
      yield* later.subscription.nudge
      assert.deepStrictEqual(kinds(yield* later.subscription.take), [])
    }).pipe(Effect.provide(world(modules)))
  )

  it.effect("are told to so many at once as the node can hold, and to others when those have left", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      const first = yield* open(env.env_id)
      const { stream_id } = yield* publish(env, "order:created")
      yield* settle
      yield* first.leave
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
        return { told: kinds(yield* subscription.take), subscription, leave: Scope.close(scope, Exit.void) }
      })
      const whole: ReturnType<typeof kinds> = ["run:start", "run:start", "run:stop", "run:stop"]
      const held = yield* Effect.replicateEffect(resume, 7)
      for (const { told } of held) assert.deepStrictEqual(typeof told === "string" ? told : told.toSorted(), whole)
      assert.strictEqual((yield* resume).told, "cut")
      yield* held[0]?.leave ?? Effect.void
      assert.lengthOf((yield* resume).told, 4)
      assert.strictEqual((yield* resume).told, "cut")
      // Who asks for more was sent what it had.
      const caughtUp = held[1]?.subscription ?? assert.fail("nobody is there")
      assert.deepStrictEqual(kinds(yield* Effect.andThen(caughtUp.nudge, caughtUp.take)), [])
      assert.lengthOf((yield* resume).told, 4)
      assert.strictEqual((yield* resume).told, "cut")
    }).pipe(Effect.scoped, Effect.provide(world(modules)))
  )

  it.effect("of other environments cost nothing and tell nothing", () =>
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

  it.effect("hand out far more at once than a subscriber may be behind", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { subscription } = yield* open(env.env_id)
      const feed = yield* Feed
      const { stream_id } = yield* publish(env, "plain")
      yield* Effect.forkScoped(
        feed.publish(Array.from({ length: 5000 }, () => ({ type: "stream:created", env_id: env.env_id, stream_id })))
      )
      let heard = 0
      while (heard < 5002) {
        const news = yield* subscription.take
        if (typeof news === "string") return assert.fail(`it ended: ${news}`)
        heard += news.flat().length
      }
      assert.strictEqual(heard, 5002)
    }).pipe(Effect.scoped, Effect.provide(world(modules)))
  )

  it("are iterated over by hosts, until they leave or Weft is closed", async () => {
    const weft = await start({
      stores: MemoryStores.database,
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
    const watching = env.streams.watch(stream_id)[Symbol.asyncIterator]()
    const ended = watching.next()
    await new Promise((resolve) => setTimeout(resolve, 50))
    await weft.close()
    assert.strictEqual((await ended).done, true)
  })
})
