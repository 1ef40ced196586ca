/** The list of nodes, which each of them answers. */
import { assert, describe, it } from "@effect/vitest"
import { layer, Nodes } from "@weft/core"
import { MemoryStores, trustedSandbox } from "@weft/core/testing"
import { Effect, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { masterKeys, settle } from "../../world.ts"

const node = layer({ masterKeys, deliveries: { total: 8, perEnv: 4 } }).pipe(Layer.provide(trustedSandbox({})))

/** Lists the nodes as one of them does, while the time for answers passes. */
const list = Effect.gen(function* () {
  const { list } = yield* Nodes
  const listing = yield* Effect.forkChild(list)
  yield* settle
  yield* TestClock.adjust("1 second")
  return yield* Fiber.join(listing)
})

describe("the list of nodes", () => {
  it.effect("has every running node once, with its release, and none that has ended", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.Scope
      const first = yield* Layer.buildWithScope(node, scope)
      yield* TestClock.adjust("1 minute")
      const second = yield* Effect.scoped(
        Effect.gen(function* () {
          const other = yield* Layer.build(node)
          const { introduce } = yield* Effect.provideContext(Nodes, other)
          introduce({ version: "2.0.0", git_sha: "abc" })
          const seen = yield* Effect.provideContext(list, first)
          assert.deepStrictEqual(yield* Effect.provideContext(list, other), seen)
          return seen
        })
      )
      assert.deepStrictEqual(
        second.map(({ version, git_sha, deliveries_running, deliveries_max }) => [
          version,
          git_sha,
          deliveries_running,
          deliveries_max
        ]),
        [
          [null, null, 0, 8],
          ["2.0.0", "abc", 0, 8]
        ]
      )
      const [a, b] = second
      assert.isAtLeast((b?.start_time ?? 0) - (a?.start_time ?? 0), 60_000)
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(
        (yield* Effect.provideContext(list, first)).map(({ node_id }) => node_id),
        [a?.node_id]
      )
    }).pipe(Effect.scoped, Effect.provide(MemoryStores.layer))
  )
})
