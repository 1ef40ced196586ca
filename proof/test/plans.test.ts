/** The statements of the run loop on weeks of data; the small form of `npm run proof -- scale`. */
import { assert, describe, it } from "@effect/vitest"
import { postgres } from "@weft/tooling/services"
import { Effect } from "effect"
import type { Size } from "../src/scale/Fill.ts"
import { collectPlans, findFaulty, measureClaims, prepare } from "../src/scale/Scale.ts"

const size: Size = { runs: 50_000, envs: 100, deliveries: 5_000, weeks: 5, now: Date.now() }

const server = Effect.acquireRelease(
  Effect.promise(() => postgres()),
  ({ remove }) => Effect.promise(remove)
)

describe("Statements of the run loop", () => {
  it.live(
    "scan no large table and serve all environments in spite of a backlog",
    () =>
      Effect.gen(function* () {
        const { url } = yield* server
        yield* prepare(url, size, () => {})
        const plans = yield* collectPlans(url, size)
        const of = new Set(plans.map((planned) => planned.of))
        for (const name of ["claim", "commit", "purge", "reap", "unpark", "look"])
          assert.isTrue(of.has(`JournalStore.${name}`))
        // The limit is the number of deliveries, which `waiting` may count.
        assert.deepStrictEqual(
          findFaulty(plans, size.deliveries).map(({ of: name, text, scanned, read }) => ({
            name,
            text,
            scanned,
            read
          })),
          []
        )
        const { fairness } = yield* measureClaims(url, size, 5)
        assert.isAtMost(fairness.claims, 2)
        assert.isAtMost(fairness.ofBacklog, 2 * 100)
      }).pipe(Effect.scoped),
    120_000
  )
})
