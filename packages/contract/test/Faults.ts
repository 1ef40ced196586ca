/** In-memory stores with one fault, and the suites that must detect it. */
import { assert, describe, it } from "@effect/vitest"
import type { Check } from "@weft/contract"
import { JournalStore } from "@weft/core/adapter"
import { MemoryStores } from "@weft/core/testing"
import { Context, Effect, Exit, Layer } from "effect"

export const all = MemoryStores.layer
export type All = Layer.Success<typeof all>

/** Returns all in-memory stores with one of them changed. */
export const faulty = <I extends All, S extends object>(
  service: Context.Key<I, S>,
  change: (store: S) => Partial<S>
): Layer.Layer<All> =>
  Layer.effectContext(
    Effect.map(Layer.build(all), (context) => {
      const store = Context.get(context, service)
      return Context.add(context, service, { ...store, ...change(store) })
    })
  )

const failures = (checks: ReadonlyArray<Check<All>>, layer: Layer.Layer<All>) =>
  Effect.map(
    Effect.forEach(checks, ({ body }) => Effect.exit(Effect.provide(body, layer))),
    (exits) => exits.filter(Exit.isFailure).length
  )

/** Registers a test for each fault: at least one check must fail, although all pass without the fault. */
export const detects = (suite: string, checks: ReadonlyArray<Check<All>>, faults: Record<string, Layer.Layer<All>>) =>
  describe(`${suite} detects a store that`, () => {
    for (const [fault, layer] of Object.entries(faults)) {
      it.effect(fault, () =>
        Effect.gen(function* () {
          assert.isAbove(yield* failures(checks, layer), 0)
        })
      )
    }

    it.effect("has a fault, and passes the one without", () =>
      Effect.gen(function* () {
        assert.strictEqual(
          yield* failures(
            checks,
            faulty(JournalStore, () => ({}))
          ),
          0
        )
      })
    )
  })
