/** Totals of lists of pending deliveries, which are bounded. */
import { assert, describe, it } from "@effect/vitest"
import { Samples } from "@weft/contract"
import { Caller, hostIdentity, Waits } from "@weft/core"
import { JournalStore } from "@weft/core/adapter"
import { MemoryStores } from "@weft/core/testing"
import { Effect } from "effect"

const { envId, waiting } = Samples

const totalAt = (offset: number) =>
  Effect.map(
    Waits.use((waits) => waits.list({ limit: 10, offset }, {})),
    ({ items, total }) => [items.length, total]
  )

describe("a list of pending deliveries", () => {
  it.effect("counts at most 10,000 of them, or one beyond the end of the page", () =>
    Effect.gen(function* () {
      const entries = Array.from({ length: 10_030 }, (_, n) => waiting(n + 1))
      yield* JournalStore.use((journal) => journal.commit(entries, null))
      assert.deepStrictEqual(yield* totalAt(0), [10, 10_000])
      assert.deepStrictEqual(yield* totalAt(10_000), [10, 10_011])
      assert.deepStrictEqual(yield* totalAt(10_020), [10, 10_030])
      assert.deepStrictEqual(yield* totalAt(10_030), [0, 10_030])
    }).pipe(
      Effect.provide(Waits.layer),
      Effect.provideService(Caller, hostIdentity(envId(1))),
      Effect.provide(MemoryStores.layer)
    )
  )
})
