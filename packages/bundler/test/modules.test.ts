/** Node's modules in functions: the samples have the same results in Node and in the sandbox. */
import { fileURLToPath } from "node:url"
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { bundle, load, oneRunner } from "./Functions.ts"
import * as samples from "./samples/all.ts"

const folder = fileURLToPath(new URL("samples", import.meta.url))

const functions: ReadonlyArray<readonly [string, () => unknown]> = Object.entries(samples)

describe("a module of Node in a function", () => {
  layer(oneRunner)((it) => {
    it.effect("gives the same results as in Node", () =>
      Effect.gen(function* () {
        const files = yield* Effect.promise(() => bundle({ folder, entry: `${folder}/all.ts` }))
        const call = yield* load(files)
        for (const [name, run] of functions) {
          const expected: unknown = JSON.parse(JSON.stringify(yield* Effect.promise(async () => run())))
          assert.deepStrictEqual(yield* call(name), expected, name)
        }
      })
    )
  })
})
