/**
 * Polls the store for pending work, once for all components of a node.
 *
 * Control messages notify a node of pending work. Polls find the work of a node that died before it could send one: its
 * runs, deliveries to retry, free capacity of groups, and schedules. One statement without a transaction reads all of
 * them, so that an idle node costs the database almost nothing.
 */
import { Context, Effect, Layer, type Scope } from "effect"
import { forkSupervised } from "../../foundation/Supervised.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import { JournalStore, type PendingWork } from "./JournalStore.ts"
import { NodeLease } from "./NodeLease.ts"
import { UnconfirmedWrites } from "./UnconfirmedWrites.ts"

/** Interval of polls in milliseconds. */
export const pollIntervalMs = 30_000

export class StorePoller extends Context.Service<
  StorePoller,
  {
    /** Calls `callback` with the result of each poll, until the scope closes. The callback must return at once. */
    readonly onPoll: (callback: (work: PendingWork) => void) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@weft/core/runtime/journal/StorePoller") {
  static readonly layer = Layer.effect(
    StorePoller,
    Effect.gen(function* () {
      const store = yield* JournalStore
      const { nodeId } = yield* NodeLease
      const unconfirmed = yield* UnconfirmedWrites
      const callbacks = new Set<(work: PendingWork) => void>()

      const poll = Effect.gen(function* () {
        yield* Effect.sleep(pollIntervalMs)
        const work = yield* store.findPendingWork(nodeId, yield* currentTime)
        // Writes also report this. Without writes, only a poll notices that the store answers again.
        yield* unconfirmed.storeAnswered
        for (const callback of callbacks) callback(work)
      })
      yield* forkSupervised({ name: "The store poller", afterFailure: Effect.void }, poll)

      return StorePoller.of({
        onPoll: (callback) =>
          Effect.asVoid(
            Effect.acquireRelease(
              Effect.sync(() => callbacks.add(callback)),
              () => Effect.sync(() => callbacks.delete(callback))
            )
          )
      })
    })
  )
}
