/**
 * Counts ended runs that are not stored, and adds them to the usage of their organization within a second.
 *
 * Counts occupy little memory, so an outage of the store only delays them. A crash of the host loses the counts of the last
 * second, and a shutdown stores them.
 */
import { Clock, Context, Effect, Latch, Layer } from "effect"
import type { OrgId } from "../../foundation/Ids.ts"
import { forkSupervised } from "../../foundation/Supervised.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import { Quotas } from "../../tenants/orgs/Quotas.ts"
import type { Run, RunStatus } from "../runs/Run.ts"
import { JournalStore } from "./JournalStore.ts"
import { NodeLease } from "./NodeLease.ts"
import type { RunCountBatch } from "./RunCountBatch.ts"
import { RunTally } from "./RunTally.ts"

/** Delay in milliseconds, in which counts gather for one commit. */
const delayMs = 1_000

/** Maximum duration of the last attempts at shutdown, in milliseconds. */
const shutdownMs = 10_000

export class RunCounter extends Context.Service<
  RunCounter,
  {
    /** Counts a run of the organization with its final status. Its record is not necessary. */
    readonly count: (run: Run, status: RunStatus, orgId: OrgId) => void
  }
>()("@weft/core/runtime/journal/RunCounter") {
  static readonly layer = Layer.effect(
    RunCounter,
    Effect.gen(function* () {
      const store = yield* JournalStore
      const { nodeId } = yield* NodeLease
      const { uncounted } = yield* Quotas
      const clock = yield* Clock.Clock
      const hasCounts = Latch.makeUnsafe(false)
      let tally = new RunTally()
      /** The batch whose result is unknown, and its runs by organization. */
      let sent: { readonly batch: RunCountBatch; readonly orgs: ReadonlyMap<OrgId, number> } | null = null
      let seq = 0

      const isEmpty = () => sent === null && tally.isEmpty

      const flush = Effect.gen(function* () {
        if (sent === null) {
          if (tally.isEmpty) return
          const { counts, orgs } = tally
          sent = { batch: { node_id: nodeId, seq: ++seq, at: yield* currentTime, counts }, orgs }
          tally = new RunTally()
        }
        yield* store.count(sent.batch)
        for (const [orgId, runs] of sent.orgs) uncounted.subtract(orgId, runs)
        sent = null
      })

      const pass = Effect.gen(function* () {
        yield* hasCounts.await
        yield* Effect.sleep(delayMs)
        yield* flush
        if (isEmpty()) hasCounts.closeUnsafe()
      })

      const flushAll = Effect.gen(function* () {
        const until = clock.currentTimeMillisUnsafe() + shutdownMs
        while (!isEmpty()) {
          const failure = yield* Effect.catchCause(Effect.as(flush, null), Effect.succeed)
          if (failure === null) continue
          if (clock.currentTimeMillisUnsafe() >= until) {
            return yield* Effect.logError("The last counts of runs that are not stored are lost", failure)
          }
          yield* Effect.sleep(delayMs)
        }
      })

      yield* Effect.addFinalizer(() => flushAll)
      yield* forkSupervised({ name: "The counter of runs that are not stored", afterFailure: Effect.void }, pass)

      return RunCounter.of({
        count: (run, status, orgId) => {
          tally.add(run, status, orgId)
          hasCounts.openUnsafe()
        }
      })
    })
  )
}
