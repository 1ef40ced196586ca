/**
 * What `RateStore`s of several nodes must do together on one database. Adapters run this suite; they do not copy it.
 *
 * Times are those of the nodes' clocks, which agree, as far as a check does not say otherwise.
 */
import { assert } from "@effect/vitest"
import type { RateStore, StoreUnavailable } from "@weft/core"
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
  /** Which node it comes to. */
  readonly node: number
  /** The milliseconds between it and the one before. */
  readonly gap: number
  /** How many come with it, to the same node. */
  readonly crowd: number
}

const requests = fc.array(
  fc.record({
    node: fc.nat({ max: 2 }),
    gap: fc.oneof(fc.constant(0), fc.nat({ max: 30 }), fc.nat({ max: 400 }), fc.nat({ max: 3000 })),
    crowd: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 30 }))
  }),
  { minLength: 1, maxLength: 60 }
)

const histories = fc.sample(fc.record({ perSecond: fc.integer({ min: 1, max: 60 }), requests }), {
  numRuns: 25,
  seed: 11
})

/** Makes requests at `now`, all at once; how many were let through. */
const granted = (
  store: RateStore["Service"] | undefined,
  { n = 1, perSecond, now, crowd = 1 }: { n?: number; perSecond: number; now: number; crowd?: number }
): Effect.Effect<number, StoreUnavailable> =>
  store === undefined
    ? Effect.die(new Error("There are not as many nodes"))
    : Effect.map(
        Effect.replicateEffect(store.take(orgId(n), perSecond, at(now)), crowd, { concurrency: "unbounded" }),
        (waits) => waits.filter((wait) => wait === 0).length
      )

/** The instants of what was let through; `skew` is how far each node's clock is ahead. */
const instantsOf = (n: number, perSecond: number, history: ReadonlyArray<Request>, skew: ReadonlyArray<number> = []) =>
  Effect.gen(function* () {
    const nodes = yield* RateNodes
    let now = 0
    const instants: Array<number> = []
    for (const { node, gap, crowd } of history) {
      now += gap
      const seen = now + (skew[node] ?? 0)
      const count = yield* granted(nodes[node], { n, perSecond, now: seen, crowd })
      for (let each = 0; each < count; each++) instants.push(now)
    }
    return instants
  })

/** Fails where in some time more were let through than its rate, over that time and `graceMs` more, and a second's worth. */
const assertWithin = (instants: ReadonlyArray<number>, perSecond: number, graceMs = 0): void => {
  for (const [first, from] of instants.entries()) {
    for (let last = first; last < instants.length; last++) {
      const time = (instants[last] ?? from) - from + graceMs
      assert.isAtMost(last - first + 1, perSecond + (time * perSecond) / 1000)
    }
  }
}

/** Every node asks every `everyMs` for `ms`: what each was let through. */
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
  check("all nodes together let through no more than the rate and a second's worth, in any time", function* () {
    for (const [index, { perSecond, requests: history }] of histories.entries()) {
      assertWithin(yield* instantsOf(index, perSecond, history), perSecond)
    }
  }),

  check("no more do they of requests that come to all of them at once", function* () {
    const nodes = yield* RateNodes
    for (const [index, perSecond] of [1, 7, 40].entries()) {
      for (const now of [0, 500, 2000]) {
        const counts = yield* Effect.forEach(
          nodes,
          (node) => granted(node, { n: index, perSecond, now, crowd: perSecond }),
          { concurrency: "unbounded" }
        )
        assert.isAtMost(sum(counts), now === 500 ? perSecond / 2 : perSecond)
      }
    }
  }),

  check("where clocks differ, the time by which they do counts with it", function* () {
    const skew = [0, 70, -150]
    for (const [index, { perSecond, requests: history }] of histories.entries()) {
      assertWithin(yield* instantsOf(index, perSecond, history, skew), perSecond, 220)
    }
  }),

  check("a node that asks alone gets the whole rate", function* () {
    for (const perSecond of [5, 20, 100]) {
      const [count = 0] = yield* saturate(perSecond, 10_000, 3, [0], perSecond)
      assert.isAtLeast(count, perSecond * 11 - 1)
    }
  }),

  check("nodes that all ask get the rate together, and each of them some of it", function* () {
    const counts = yield* saturate(100, 10_000, 3, [0, 1, 2])
    assert.isAtLeast(sum(counts), 1050)
    for (const count of counts) assert.isAtLeast(count, 100)
  }),

  check("what a node takes in advance is lost to the others for no more than a moment", function* () {
    const nodes = yield* RateNodes
    yield* saturate(100, 3000, 3, [0])
    let count = 0
    for (let now = 3000; now < 6000; now += 5) count += yield* granted(nodes[1], { perSecond: 100, now })
    assert.isAtLeast(count, 300 - 25)
  }),

  check("nodes that go by different rates fill the bucket once in a while, not with every request", function* () {
    const nodes = yield* RateNodes
    let count = 0
    for (let now = 0; now < 9_000; now += 10) {
      count += yield* granted(nodes[0], { perSecond: 20, now })
      count += yield* granted(nodes[1], { perSecond: 50, now })
    }
    // Both buckets, and the greater rate.
    assert.isAtMost(count, 20 + 50 + 9 * 50)
  }),

  check("a clock that is far ahead does not keep the other nodes from the rate", function* () {
    const nodes = yield* RateNodes
    assert.strictEqual(yield* granted(nodes[0], { perSecond: 5, now: 3_600_000 }), 1)
    yield* granted(nodes[1], { perSecond: 5, now: 0 })
    assert.strictEqual(yield* granted(nodes[1], { perSecond: 5, now: 1000, crowd: 5 }), 5)
  })
]
