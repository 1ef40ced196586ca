/**
 * Renews the lease of a node with long runs while no commit renews it.
 *
 * Without active runs it does nothing: such a node may be considered dead without harm.
 */
import { Effect, Layer } from "effect"
import { forkSupervised } from "../../foundation/Supervised.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import { JournalStore } from "../journal/JournalStore.ts"
import { NodeLease } from "../journal/NodeLease.ts"
import { ActiveRuns } from "./ActiveRuns.ts"

/** Checks per duration of the lease. It is due after a third of it, so the store may fail several times. */
const checks = 10

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* JournalStore
    const lease = yield* NodeLease
    const runs = yield* ActiveRuns

    const pass = Effect.gen(function* () {
      yield* runs.activeRuns
      yield* Effect.sleep(lease.lengthMs / checks)
      const due = lease.due(yield* currentTime)
      if (due === null) return
      yield* store.commit([], due)
      lease.renewed(due)
    })
    yield* forkSupervised({ name: "The lease keeper", afterFailure: Effect.void }, pass)
  })
)
