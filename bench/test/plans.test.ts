/** Every statement of the run loop beside what weeks of use leave behind; the small form of `npm run bench -- scale`. */
import { assert, describe, it } from "@effect/vitest"
import { postgres } from "@weft/tooling/services"
import { Effect } from "effect"
import type { Size } from "../src/scale/Fill.ts"
import { claimsOf, faulty, plansOf, prepare } from "../src/scale/Scale.ts"

const size: Size = { runs: 50_000, envs: 100, deliveries: 5_000, weeks: 5, now: Date.now() }

const server = Effect.acquireRelease(
  Effect.promise(() => postgres()),
  ({ remove }) => Effect.promise(remove)
)

describe("the statements of the run loop", () => {
  it.live(
    "read no large table from one end to the other, and serve all environments beside a backlog",
    () =>
      Effect.gen(function* () {
        const { url } = yield* server
        yield* prepare(url, size, () => {})
        const plans = yield* plansOf(url, size)
        const of = new Set(plans.map((planned) => planned.of))
        for (const name of ["claim", "commit", "purge", "reap", "unpark", "look"])
          assert.isTrue(of.has(`JournalStore.${name}`))
        // No more than there are deliveries: `waiting` may count them all.
        assert.deepStrictEqual(
          faulty(plans, size.deliveries).map(({ of: name, text, scanned, read }) => ({ name, text, scanned, read })),
          []
        )
        const { fairness } = yield* claimsOf(url, size, 5)
        assert.isAtMost(fairness.claims, 2)
        assert.isAtMost(fairness.ofBacklog, 2 * 100)
      }).pipe(Effect.scoped),
    120_000
  )
})
