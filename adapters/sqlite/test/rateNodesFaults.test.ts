/** Stores of rates for several nodes with one fault each: the contract must notice it. */
import { assert, describe, it } from "@effect/vitest"
import { RateNodes, rateNodesChecks } from "@weft/contract"
import { MemoryStores, RateStore } from "@weft/core"
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
  "count for each node by itself": Layer.effect(RateNodes, inMemory(3)),
  "let the first of them take everything": changed(([first, ...others]) =>
    first === undefined ? [] : [first, ...others.map(() => ({ take: () => Effect.succeed(100) }))]
  ),
  "keep back a tenth of the rate": each(
    ({ take }) =>
      (org, perSecond, now) =>
        take(org, Math.max(1, Math.floor(perSecond * 0.9)), now)
  ),
  "let through a little more": each(
    ({ take }) =>
      (org, perSecond, now) =>
        take(org, perSecond + 1, now)
  ),
  "fill the bucket whenever the rate changes, and wait for the clock that is ahead": Layer.effect(
    RateNodes,
    Effect.map(inMemory(1), (stores) => [...stores, ...stores, ...stores])
  ),
  "fail when many ask at once": each(({ take }) => {
    let underWay = 0
    return (org, perSecond, now) =>
      Effect.suspend(() => (++underWay > 10 ? Effect.succeed(0) : take(org, perSecond, now))).pipe(
        Effect.ensuring(Effect.sync(() => void underWay--))
      )
  })
}

const failures = (layer: Layer.Layer<RateNodes>) =>
  Effect.map(
    Effect.forEach(rateNodesChecks, ({ body }) => Effect.exit(Effect.provide(body, layer))),
    (exits) => exits.filter(Exit.isFailure).length
  )

describe("the contract of rates over several nodes notices stores that", () => {
  for (const [fault, layer] of Object.entries(faults)) {
    it.effect(fault, () =>
      Effect.gen(function* () {
        assert.isAbove(yield* failures(layer), 0)
      })
    )
  }

  it.effect("have no fault, by letting them pass", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* failures(rateNodes), 0)
    })
  )
})
