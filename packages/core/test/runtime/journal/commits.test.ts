/** Concurrent commits of the journal, as many as the store supports. */
import { assert, describe, it } from "@effect/vitest"
import { Events, layer } from "@weft/core"
import { JournalStore } from "@weft/core/adapter"
import { MemoryStores, type TrustedFunction, trustedSandbox } from "@weft/core/testing"
import { Context, Effect, Fiber, Latch, Layer } from "effect"
import { allRuns, asHost, deployed, masterKeys, publish, settle } from "../../world.ts"

const job: TrustedFunction = Object.assign(() => "done", { meta: { event: "job" } })

/** Sizes of commits in the order in which they began. Commits wait while `open` is closed. */
interface Gate {
  readonly sizes: Array<number>
  readonly open: Latch.Latch
}

const makeGate = (): Gate => ({ sizes: [], open: Latch.makeUnsafe(true) })

/** Returns in-memory stores with at most `commitsMax` concurrent commits, each of which waits at the gate. */
const makeStores = (commitsMax: number, { sizes, open }: Gate) =>
  Layer.effectContext(
    Effect.map(Effect.context<Layer.Success<typeof MemoryStores.layer>>(), (stores) => {
      const journal = Context.get(stores, JournalStore)
      return Context.add(stores, JournalStore, {
        ...journal,
        commitsMax,
        commit: (entries, lease) => {
          sizes.push(entries.length)
          return Effect.andThen(open.await, journal.commit(entries, lease))
        }
      })
    })
  ).pipe(Layer.provide(MemoryStores.layer))

const inWorld = (commitsMax: number, gate: Gate) =>
  Effect.provide(
    layer({ masterKeys }).pipe(
      Layer.provideMerge(makeStores(commitsMax, gate)),
      Layer.provide(trustedSandbox({ app: { main: { job } } }))
    )
  )

/** Publishes `count` events at once and runs all fibers until they wait. */
const publishAtOnce = (env: Effect.Success<ReturnType<typeof deployed>>, count: number) =>
  Effect.tap(
    Effect.forEach(Array.from({ length: count }), () => Effect.forkChild(publish(env, "job"))),
    () => settle
  )

describe("Journal commits", () => {
  it.effect("are sequential if the store supports one at a time", () => {
    const gate = makeGate()
    return Effect.gen(function* () {
      const env = yield* deployed("app")
      gate.open.closeUnsafe()
      gate.sizes.length = 0
      const first = yield* publishAtOnce(env, 2)
      const others = yield* publishAtOnce(env, 5)
      assert.deepStrictEqual(gate.sizes, [2])
      gate.open.openUnsafe()
      yield* Fiber.joinAll([...first, ...others])
      yield* settle
      assert.strictEqual((yield* allRuns(env)).filter(({ status }) => status === "succeeded").length, 7)
    }).pipe(inWorld(1, gate))
  })

  it.effect("have a limited length of each environment, so that others pass its further entries", () => {
    const gate = makeGate()
    return Effect.gen(function* () {
      const large = yield* deployed("app")
      const other = yield* deployed("app", "other")
      gate.open.closeUnsafe()
      gate.sizes.length = 0
      const first = yield* publishAtOnce(large, 1)
      const many = yield* Effect.forEach(Array.from({ length: 40 }), () =>
        Effect.forkChild(publish(large, "many", "x".repeat(60_000)))
      )
      yield* settle
      const last = yield* publishAtOnce(other, 1)
      gate.open.openUnsafe()
      yield* Fiber.joinAll([...first, ...many, ...last])
      // 17 of them are below the limit of 1 MiB, and the other environment passes the rest.
      assert.deepStrictEqual(gate.sizes.slice(0, 2), [1, 18])
      yield* settle
      const events = yield* asHost(
        large,
        Events.use((store) => store.list({ limit: 100, offset: 0 }))
      )
      assert.strictEqual(events.total, 41)
    }).pipe(inWorld(1, gate))
  })

  it.effect(
    "have a hundred entries of an environment while another one writes, and as many as are queued otherwise",
    () => {
      const gate = makeGate()
      return Effect.gen(function* () {
        const busy = yield* deployed("app")
        const other = yield* deployed("app", "other")
        const alone = yield* publishAtOnce(busy, 1)
        for (let commit = 0; commit < 110; commit++) yield* Effect.andThen(publish(busy, "none"), settle)
        gate.open.closeUnsafe()
        const taken = (publishers: ReadonlyArray<Fiber.Fiber<unknown, unknown>>) =>
          Effect.gen(function* () {
            gate.sizes.length = 0
            yield* gate.open.open
            yield* Fiber.joinAll(publishers)
            yield* settle
            return gate.sizes
          })
        const first = yield* publishAtOnce(busy, 1)
        const many = yield* publishAtOnce(busy, 300)
        assert.isAtLeast((yield* taken([...alone, ...first, ...many]))[0] ?? 0, 300)

        gate.open.closeUnsafe()
        const blocking = yield* publishAtOnce(busy, 1)
        const flood = yield* publishAtOnce(busy, 300)
        const innocent = yield* publishAtOnce(other, 1)
        assert.strictEqual((yield* taken([...blocking, ...flood, ...innocent]))[0], 101)
        assert.strictEqual((yield* allRuns(other)).filter(({ status }) => status === "succeeded").length, 1)
      }).pipe(inWorld(1, gate))
    }
  )

  it.effect("begin next to another once half as many entries are queued, at most as many as the store supports", () => {
    const gate = makeGate()
    return Effect.gen(function* () {
      const env = yield* deployed("app")
      gate.open.closeUnsafe()
      gate.sizes.length = 0
      const first = yield* publishAtOnce(env, 4)
      const fewer = yield* publishAtOnce(env, 1)
      assert.deepStrictEqual(gate.sizes, [4])
      const more = yield* publishAtOnce(env, 1)
      assert.deepStrictEqual(gate.sizes, [4, 2])
      const others = yield* publishAtOnce(env, 9)
      assert.deepStrictEqual(gate.sizes, [4, 2])
      gate.open.openUnsafe()
      yield* Fiber.joinAll([...first, ...fewer, ...more, ...others])
      yield* settle
      assert.strictEqual((yield* allRuns(env)).filter(({ status }) => status === "succeeded").length, 15)
    }).pipe(inWorld(2, gate))
  })

  it.effect("contain few large events at once, and small entries do not wait for them", () => {
    const gate = makeGate()
    return Effect.gen(function* () {
      const env = yield* deployed("app")
      gate.open.closeUnsafe()
      gate.sizes.length = 0
      const large = yield* Effect.forEach(Array.from({ length: 6 }), () =>
        Effect.forkChild(publish(env, "large", "x".repeat(600_000)))
      )
      yield* settle
      assert.deepStrictEqual(gate.sizes, [1])
      const small = yield* publishAtOnce(env, 3)
      assert.deepStrictEqual(gate.sizes, [1, 3])
      gate.open.openUnsafe()
      yield* Fiber.joinAll([...large, ...small])
      yield* settle
      assert.isAtLeast(gate.sizes.length, 7)
    }).pipe(inWorld(2, gate))
  })

  it.effect("have no large event if small entries wait after a commit with large ones", () => {
    const gate = makeGate()
    return Effect.gen(function* () {
      const env = yield* deployed("app")
      gate.open.closeUnsafe()
      gate.sizes.length = 0
      const large = yield* Effect.forEach(Array.from({ length: 3 }), () =>
        Effect.forkChild(publish(env, "large", "x".repeat(1_100_000)))
      )
      yield* settle
      const small = yield* publishAtOnce(env, 5)
      gate.open.openUnsafe()
      yield* Fiber.joinAll([...large, ...small])
      // One large event, the small ones, and the next large event.
      assert.deepStrictEqual(gate.sizes.slice(0, 2), [1, 5])
    }).pipe(inWorld(1, gate))
  })
})
