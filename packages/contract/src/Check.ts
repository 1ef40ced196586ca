/**
 * A contract as a list of effects.
 *
 * They are not tests, so that the contract itself can be tested: a faulty store must fail one of them.
 */
import { describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"

/** One requirement of a contract. Starts with an empty store, and dies or fails if the store violates it. */
export interface Check<R> {
  readonly name: string
  readonly body: Effect.Effect<void, unknown, R>
}

export const check = <Eff extends Effect.Effect<unknown, unknown, unknown>>(
  name: string,
  body: () => Generator<Eff, void>
): Check<[Eff] extends [never] ? never : [Eff] extends [Effect.Effect<infer _A, infer _E, infer R>] ? R : never> => ({
  name,
  body: Effect.gen(body)
})

/** Runs the checks as tests, each with a fresh build of `layer`. */
export const suite = <R, E>(title: string, checks: ReadonlyArray<Check<R>>, layer: Layer.Layer<R, E>): void => {
  describe(title, () => {
    for (const { name, body } of checks) it.effect(name, () => Effect.provide(body, layer))
  })
}
