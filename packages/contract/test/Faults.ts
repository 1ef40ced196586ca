/** Faulty stores: the store in memory with one fault, and the suites that must notice it. */
import { assert, describe, it } from "@effect/vitest"
import type { Check } from "@weft/contract"
import { JournalStore, MemoryStores } from "@weft/core"
import { Context, Effect, Exit, Layer } from "effect"

export const all = MemoryStores.layer
export type All = Layer.Success<typeof all>

/** All stores, of which one is changed. */
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

/** One test for each fault: at least one check must not succeed, though all do without it. */
export const notices = (suite: string, checks: ReadonlyArray<Check<All>>, faults: Record<string, Layer.Layer<All>>) =>
  describe(`${suite} notices a store that`, () => {
    for (const [fault, layer] of Object.entries(faults)) {
      it.effect(fault, () =>
        Effect.gen(function* () {
          assert.isAbove(yield* failures(checks, layer), 0)
        })
      )
    }

    it.effect("has no fault, by letting it pass", () =>
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
