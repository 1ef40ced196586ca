/**
 * Renews the lease of a node whose runs take longer than it, while nothing is committed that it could ride on.
 *
 * Without runs at work it does nothing: who holds none may be taken for dead.
 */
import { Effect, Layer } from "effect"
import { forkLasting } from "../errors/Lasting.ts"
import { now as currentTime } from "../ids/Timestamp.ts"
import { JournalStore } from "../journal/JournalStore.ts"
import { NodeLease } from "../journal/NodeLease.ts"
import { RunningRuns } from "./RunningRuns.ts"

/** Looks at the lease in the time that it holds. It is renewed from a third on, so a store may fail some of them. */
const looks = 10

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* JournalStore
    const lease = yield* NodeLease
    const running = yield* RunningRuns

    const pass = Effect.gen(function* () {
      yield* running.atWork
      yield* Effect.sleep(lease.lengthMs / looks)
      const due = lease.due(yield* currentTime)
      if (due === null) return
      yield* store.commit([], due)
      lease.renewed(due)
    })
    yield* forkLasting({ name: "The keeper of the lease", afterFailure: Effect.void }, pass)
  })
)
