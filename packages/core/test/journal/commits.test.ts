/** Commits that are under way at once, as many as the store can do. */
import { assert, describe, it } from "@effect/vitest"
import { JournalStore, layer, MemoryStores, type TrustedFunction, trustedSandbox } from "@weft/core"
import { Context, Effect, Fiber, Latch, Layer } from "effect"
import { allRuns, deployed, masterKeys, publish, settle } from "../world.ts"

const job: TrustedFunction = Object.assign(() => "done", { meta: { event: "job" } })

/** The sizes of the commits that wait for `gate`, in the order in which they began. */
interface Gate {
  readonly sizes: Array<number>
  readonly open: Latch.Latch
}

const gateOf = (): Gate => ({ sizes: [], open: Latch.makeUnsafe(true) })

/** Stores in memory that take `commitsMax` commits at once, each of which waits at the gate. */
const storesOf = (commitsMax: number, { sizes, open }: Gate) =>
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
      Layer.provideMerge(storesOf(commitsMax, gate)),
      Layer.provide(trustedSandbox({ app: { main: { job } } }))
    )
  )

/** Publishes so many at once, and lets everything go on until it waits. */
const published = (env: Effect.Success<ReturnType<typeof deployed>>, count: number) =>
  Effect.tap(
    Effect.forEach(Array.from({ length: count }), () => Effect.forkChild(publish(env, "job"))),
    () => settle
  )

describe("commits of a node", () => {
  it.effect("wait for each other where the store takes one at a time", () => {
    const gate = gateOf()
    return Effect.gen(function* () {
      const env = yield* deployed("app")
      gate.open.closeUnsafe()
      gate.sizes.length = 0
      const first = yield* published(env, 2)
      const others = yield* published(env, 5)
      assert.deepStrictEqual(gate.sizes, [2])
      gate.open.openUnsafe()
      yield* Fiber.joinAll([...first, ...others])
      yield* settle
      assert.strictEqual((yield* allRuns(env)).filter(({ status }) => status === "succeeded").length, 7)
    }).pipe(inWorld(1, gate))
  })

  it.effect("begin beside another once half as much waits as is in that one, and no more than the store takes", () => {
    const gate = gateOf()
    return Effect.gen(function* () {
      const env = yield* deployed("app")
      gate.open.closeUnsafe()
      gate.sizes.length = 0
      const first = yield* published(env, 4)
      const fewer = yield* published(env, 1)
      assert.deepStrictEqual(gate.sizes, [4])
      const more = yield* published(env, 1)
      assert.deepStrictEqual(gate.sizes, [4, 2])
      const others = yield* published(env, 9)
      assert.deepStrictEqual(gate.sizes, [4, 2])
      gate.open.openUnsafe()
      yield* Fiber.joinAll([...first, ...fewer, ...more, ...others])
      yield* settle
      assert.strictEqual((yield* allRuns(env)).filter(({ status }) => status === "succeeded").length, 15)
    }).pipe(inWorld(2, gate))
  })
})
