/** Attacks during the first load of a bundle, before it is accepted. */
import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@weft/core/adapter"
import { Effect } from "effect"
import { sandbox } from "../../src/index.ts"
import { buildBundle } from "../zip.ts"

const MiB = 1024 * 1024

/** Allocates memory outside the heap in small steps, enough to fill the machine. */
const outsideOfItsHeap = `
globalThis.kept = []
for (let n = 0; n < 200000; n++) kept.push(new Intl.DateTimeFormat("en-US", { timeZone: "Asia/Tokyo", dateStyle: "full" }))
export const a = () => 1`

describe("a bundle that allocates memory outside its heap while it loads", () => {
  it.live("is rejected for its memory, long before its time limit", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const error = yield* Effect.flip(sandbox.prepare(buildBundle(outsideOfItsHeap)))
      assert.match(error.message, /needs more than/)
    }).pipe(
      Effect.provide(sandbox({ runners: 1, rssBytes: 250 * MiB, limits: { loadMs: 20_000, heapBytes: 512 * MiB } }))
    )
  )
})
