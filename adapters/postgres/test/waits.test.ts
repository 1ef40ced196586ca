/** Why a run of a node waits whose lease has expired in the shared database. */
import { assert, describe, it } from "@effect/vitest"
import { Samples } from "@weft/contract"
import { Caller, hostIdentity, Waits } from "@weft/core"
import { JournalStore, now, Timestamp } from "@weft/core/adapter"
import { Effect } from "effect"
import { fresh } from "./Fresh.ts"

const { at, claimedOnInsert, envId, nodeId, runId } = Samples

const explain = Waits.use((waits) => waits.explain(runId(1))).pipe(
  Effect.provideService(Caller, hostIdentity(envId(1))),
  Effect.provide(Waits.layer)
)

describe("Waits on PostgreSQL", () => {
  it.live("names the node and the end of its lease for a run whose node is down", () =>
    Effect.gen(function* () {
      const journal = yield* JournalStore
      yield* journal.commit([claimedOnInsert(1)], {
        node_id: nodeId(1),
        until: Timestamp.make((yield* now) + 3_600_000)
      })
      assert.deepStrictEqual(yield* explain, [])
      yield* journal.endLease(nodeId(1))
      yield* journal.commit([], { node_id: nodeId(1), until: at(100) })
      const [item] = yield* explain
      assert.deepInclude(item, {
        object: "run",
        id: runId(1),
        waiting: { reason: "node", since: at(100), until: null, detail: nodeId(1) }
      })
    }).pipe(Effect.provide(fresh))
  )
})
