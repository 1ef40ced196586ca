/**
 * The ends of child runs: the result for the parent, and cancellation by the parent.
 *
 * A child may end in many ways: by its result, a cancellation, a discarded delivery, the removal of its project. So its end
 * does not wait for this. The node that ends it asks the store, which decides from the stored runs and deliveries whether the
 * child has ended. If the node dies before, the next poll of the store does it.
 */
import { Context, Effect, Latch, Layer, Queue } from "effect"
import { forkSupervised, logOutage } from "../../foundation/Supervised.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { StorePoller } from "../journal/StorePoller.ts"
import { type ChildRef, WorkflowStore } from "../runs/WorkflowStore.ts"

/** Maximum children that one pass of a poll reads at once. */
const page = 1_000

export class ChildRuns extends Context.Service<
  ChildRuns,
  {
    /** Gives the ends of child runs that may have ended to their parents. Returns at once. */
    readonly ended: (children: ReadonlyArray<ChildRef>) => void
    /** Has child runs cancelled that no run waits for any more. Returns at once. */
    readonly abandon: (children: ReadonlyArray<ChildRef>) => void
    /** Waits for the next abandoned child run. */
    readonly nextAbandoned: Effect.Effect<ChildRef>
  }
>()("@weft/core/runtime/workflows/ChildRuns") {
  static readonly layer = Layer.effect(
    ChildRuns,
    Effect.gen(function* () {
      const store = yield* WorkflowStore
      const bus = yield* ClusterBus
      const poller = yield* StorePoller
      const scope = yield* Effect.scope
      const context = yield* Effect.context<never>()
      const abandoned = yield* Queue.unbounded<ChildRef>()
      const polled = Latch.makeUnsafe(false)

      const end = Effect.fnUntraced(function* (children: ReadonlyArray<ChildRef>) {
        const parents = yield* store.endChildren(children, yield* currentTime)
        if (parents.length === 0) return
        yield* bus.sendControl([
          { type: "workflows:arrived", run_ids: parents.map(({ run_id }) => run_id) },
          { type: "deliveries:waiting", node_id: null }
        ])
      })

      const endAll = Effect.gen(function* () {
        yield* polled.await
        polled.closeUnsafe()
        let after: ChildRef | null = null
        do {
          const children: ReadonlyArray<ChildRef> = yield* store.children(after, page)
          yield* end(children)
          after = children.length < page ? null : (children.at(-1) ?? null)
        } while (after !== null)
      })

      yield* poller.onPoll(({ invoking }) => {
        if (invoking) polled.openUnsafe()
      })
      yield* forkSupervised({ name: "The comparison of child runs with waits" }, endAll)

      return ChildRuns.of({
        ended: (children) => {
          if (children.length === 0) return
          Effect.runForkWith(context)(
            Effect.forkIn(Effect.catchTag(end(children), "StoreUnavailable", logOutage), scope)
          )
        },
        abandon: (children) => {
          for (const child of children) Queue.offerUnsafe(abandoned, child)
        },
        nextAbandoned: Queue.take(abandoned)
      })
    })
  )
}
