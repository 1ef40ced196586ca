/** Attacks while a bundle is loaded for the first time, when nobody has agreed to it yet. */
import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@weft/core"
import { Effect } from "effect"
import { isolated } from "../../src/index.ts"
import { bundleOf } from "../zip.ts"

const MiB = 1024 * 1024

/** Takes memory that no limit of a heap counts, a piece at a time, for much longer than it would need to fill a machine. */
const outsideOfItsHeap = `
globalThis.kept = []
for (let n = 0; n < 200000; n++) kept.push(new Intl.DateTimeFormat("en-US", { timeZone: "Asia/Tokyo", dateStyle: "full" }))
export const a = () => 1`

describe("a bundle that takes memory outside of its heap while it is loaded", () => {
  it.live("is refused for that, long before it ran out of time", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const error = yield* Effect.flip(sandbox.prepare(bundleOf(outsideOfItsHeap)))
      assert.match(error.message, /needs more than/)
    }).pipe(
      Effect.provide(isolated({ runners: 1, rssBytes: 250 * MiB, limits: { loadMs: 20_000, heapBytes: 512 * MiB } }))
    )
  )
})
