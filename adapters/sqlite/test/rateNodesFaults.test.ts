/** Rate stores of several nodes with one fault each, which the contract must detect. */
import { assert, describe, it } from "@effect/vitest"
import { RateNodes, rateNodesChecks } from "@weft/contract"
import { RateStore } from "@weft/core/adapter"
import { MemoryStores } from "@weft/core/testing"
import { Context, Effect, Exit, Layer } from "effect"
import { rateNodes } from "./Rates.ts"

type Store = RateStore["Service"]

const changed = (change: (nodes: ReadonlyArray<Store>) => ReadonlyArray<Store>): Layer.Layer<RateNodes> =>
  Layer.effect(RateNodes, Effect.map(RateNodes, change)).pipe(Layer.provide(rateNodes))

const each = (change: (store: Store) => Store["take"]) =>
  changed((nodes) => nodes.map((store) => ({ take: change(store) })))

const inMemory = (stores: number) =>
  Effect.map(
    Effect.replicateEffect(Layer.build(Layer.fresh(MemoryStores.rates)), stores),
    (built): ReadonlyArray<Store> => built.map((context) => Context.get(context, RateStore))
  )

const faults: Record<string, Layer.Layer<RateNodes>> = {
  "count for each node alone": Layer.effect(RateNodes, inMemory(3)),
  "grant all permits to the first node": changed(([first, ...others]) =>
    first === undefined ? [] : [first, ...others.map(() => ({ take: () => Effect.succeed(100) }))]
  ),
  "withhold a tenth of the rate": each(
    ({ take }) =>
      (org, perSecond, now) =>
        take(org, Math.max(1, Math.floor(perSecond * 0.9)), now)
  ),
  "allow slightly more than the rate": each(
    ({ take }) =>
      (org, perSecond, now) =>
        take(org, perSecond + 1, now)
  ),
  "refill the bucket on every change of the rate, and wait for a clock that is ahead": Layer.effect(
    RateNodes,
    Effect.map(inMemory(1), (stores) => [...stores, ...stores, ...stores])
  ),
  "allow everything under concurrent requests": each(({ take }) => {
    let inFlight = 0
    return (org, perSecond, now) =>
      Effect.suspend(() => (++inFlight > 10 ? Effect.succeed(0) : take(org, perSecond, now))).pipe(
        Effect.ensuring(Effect.sync(() => void inFlight--))
      )
  })
}

const failures = (layer: Layer.Layer<RateNodes>) =>
  Effect.map(
    Effect.forEach(rateNodesChecks, ({ body }) => Effect.exit(Effect.provide(body, layer))),
    (exits) => exits.filter(Exit.isFailure).length
  )

describe("the contract of rates over several nodes detects stores that", () => {
  for (const [fault, layer] of Object.entries(faults)) {
    it.effect(fault, () =>
      Effect.gen(function* () {
        assert.isAbove(yield* failures(layer), 0)
      })
    )
  }

  it.effect("have a fault, and passes the one without", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* failures(rateNodes), 0)
    })
  )
})
