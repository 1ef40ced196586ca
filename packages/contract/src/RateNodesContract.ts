/**
 * Contract of the `RateStore`s of several nodes on one database. Adapters run this suite; they do not copy it.
 *
 * Times are those of the nodes' clocks, which are equal unless a check says otherwise.
 */
import { assert } from "@effect/vitest"
import type { StoreUnavailable } from "@weft/core"
import type { RateStore } from "@weft/core/adapter"
import { Context, Effect, type Layer } from "effect"
import * as fc from "fast-check"
import { type Check, check, suite } from "./Check.ts"
import { at, orgId } from "./Samples.ts"

/** Three nodes on one fresh database. */
export class RateNodes extends Context.Service<RateNodes, ReadonlyArray<RateStore["Service"]>>()(
  "@weft/contract/RateNodes"
) {}

export const rateNodesContract = <E>(adapter: string, layer: Layer.Layer<RateNodes, E>) =>
  suite(`RateStore contract, several nodes: ${adapter}`, rateNodesChecks, layer)

interface Request {
  /** Index of the node that receives the request. */
  readonly node: number
  /** Milliseconds since the previous request. */
  readonly gap: number
  /** Number of concurrent requests to the same node. */
  readonly count: number
}

const requests = fc.array(
  fc.record({
    node: fc.nat({ max: 2 }),
    gap: fc.oneof(fc.constant(0), fc.nat({ max: 30 }), fc.nat({ max: 400 }), fc.nat({ max: 3000 })),
    count: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 30 }))
  }),
  { minLength: 1, maxLength: 60 }
)

const histories = fc.sample(fc.record({ perSecond: fc.integer({ min: 1, max: 60 }), requests }), {
  numRuns: 25,
  seed: 11
})

/** Sends concurrent requests at `now`. Returns the number of granted ones. */
const granted = (
  store: RateStore["Service"] | undefined,
  { n = 1, perSecond, now, count = 1 }: { n?: number; perSecond: number; now: number; count?: number }
): Effect.Effect<number, StoreUnavailable> =>
  store === undefined
    ? Effect.die(new Error("The check needs more nodes than the layer has"))
    : Effect.map(
        Effect.replicateEffect(store.take(orgId(n), perSecond, at(now)), count, { concurrency: "unbounded" }),
        (waits) => waits.filter((wait) => wait === 0).length
      )

/** Returns the instants of granted requests. `skew` is the lead of each node's clock in milliseconds. */
const replay = (n: number, perSecond: number, history: ReadonlyArray<Request>, skew: ReadonlyArray<number> = []) =>
  Effect.gen(function* () {
    const nodes = yield* RateNodes
    let now = 0
    const instants: Array<number> = []
    for (const { node, gap, count } of history) {
      now += gap
      const seen = now + (skew[node] ?? 0)
      const grants = yield* granted(nodes[node], { n, perSecond, now: seen, count })
      for (let each = 0; each < grants; each++) instants.push(now)
    }
    return instants
  })

/** Fails if any period has more grants than the rate over the period plus `graceMs`, plus one second of it. */
const assertWithin = (instants: ReadonlyArray<number>, perSecond: number, graceMs = 0): void => {
  for (const [first, from] of instants.entries()) {
    for (let last = first; last < instants.length; last++) {
      const time = (instants[last] ?? from) - from + graceMs
      assert.isAtMost(last - first + 1, perSecond + (time * perSecond) / 1000)
    }
  }
}

/** Sends a request to each node every `everyMs` for `ms`. Returns the number of grants of each. */
const saturate = (perSecond: number, ms: number, everyMs: number, which: ReadonlyArray<number>, n = 1) =>
  Effect.gen(function* () {
    const nodes = yield* RateNodes
    const counts = which.map(() => 0)
    for (let now = 0; now < ms; now += everyMs) {
      for (const [index, node] of which.entries()) {
        counts[index] = (counts[index] ?? 0) + (yield* granted(nodes[node], { n, perSecond, now }))
      }
    }
    return counts
  })

const sum = (counts: ReadonlyArray<number>): number => counts.reduce((all, count) => all + count, 0)

export const rateNodesChecks: ReadonlyArray<Check<RateNodes>> = [
  check("all nodes together grant at most the rate plus one second of it in any period", function* () {
    for (const [index, { perSecond, requests: history }] of histories.entries()) {
      assertWithin(yield* replay(index, perSecond, history), perSecond)
    }
  }),

  check("all nodes together keep to the rate under concurrent requests", function* () {
    const nodes = yield* RateNodes
    for (const [index, perSecond] of [1, 7, 40].entries()) {
      for (const now of [0, 500, 2000]) {
        const counts = yield* Effect.forEach(
          nodes,
          (node) => granted(node, { n: index, perSecond, now, count: perSecond }),
          { concurrency: "unbounded" }
        )
        assert.isAtMost(sum(counts), now === 500 ? perSecond / 2 : perSecond)
      }
    }
  }),

  check("exceed the rate by at most the clock difference of the nodes", function* () {
    const skew = [0, 70, -150]
    for (const [index, { perSecond, requests: history }] of histories.entries()) {
      assertWithin(yield* replay(index, perSecond, history, skew), perSecond, 220)
    }
  }),

  check("a single active node gets the whole rate", function* () {
    for (const perSecond of [5, 20, 100]) {
      const [count = 0] = yield* saturate(perSecond, 10_000, 3, [0], perSecond)
      assert.isAtLeast(count, perSecond * 11 - 1)
    }
  }),

  check("active nodes share the whole rate, and each gets some of it", function* () {
    const counts = yield* saturate(100, 10_000, 3, [0, 1, 2])
    assert.isAtLeast(sum(counts), 1050)
    for (const count of counts) assert.isAtLeast(count, 100)
  }),

  check("permits that a node prefetched are missing for the others only briefly", function* () {
    const nodes = yield* RateNodes
    yield* saturate(100, 3000, 3, [0])
    let count = 0
    for (let now = 3000; now < 6000; now += 5) count += yield* granted(nodes[1], { perSecond: 100, now })
    assert.isAtLeast(count, 300 - 25)
  }),

  check("nodes with different rates refill the bucket occasionally, not with every request", function* () {
    const nodes = yield* RateNodes
    let count = 0
    for (let now = 0; now < 9_000; now += 10) {
      count += yield* granted(nodes[0], { perSecond: 20, now })
      count += yield* granted(nodes[1], { perSecond: 50, now })
    }
    // The sum of both buckets, and the higher rate.
    assert.isAtMost(count, 20 + 50 + 9 * 50)
  }),

  check("a clock that is far ahead does not block the other nodes", function* () {
    const nodes = yield* RateNodes
    assert.strictEqual(yield* granted(nodes[0], { perSecond: 5, now: 3_600_000 }), 1)
    yield* granted(nodes[1], { perSecond: 5, now: 0 })
    assert.strictEqual(yield* granted(nodes[1], { perSecond: 5, now: 1000, count: 5 }), 5)
  })
]
