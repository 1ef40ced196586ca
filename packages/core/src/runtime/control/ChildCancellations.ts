/** Cancels child runs that no run waits for any more, because their parents ended or took a timeout. */
import { Effect, Layer, Schedule } from "effect"
import { forkSupervised, logOutage } from "../../foundation/Supervised.ts"
import type { ChildRef } from "../runs/WorkflowStore.ts"
import { ChildRuns } from "../workflows/ChildRuns.ts"
import { makeCancelBatch } from "./cancelRuns.ts"
import { makeDiscardPass } from "./discardDeliveries.ts"

const retry = { schedule: Schedule.spaced("2 seconds"), times: 30 }

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const childRuns = yield* ChildRuns
    const cancelBatch = yield* makeCancelBatch
    const discard = yield* makeDiscardPass

    const cancel = Effect.fnUntraced(function* ({ env_id, event_id }: ChildRef) {
      const which = { eventId: event_id, type: "call" } as const
      while ((yield* cancelBatch(env_id, which)).length > 0);
      yield* discard(env_id, { callBy: event_id })
      // The delivery may have been claimed in the meantime.
      yield* cancelBatch(env_id, which)
    })

    yield* forkSupervised(
      { name: "The cancellation of child runs" },
      Effect.flatMap(childRuns.nextAbandoned, (child) =>
        Effect.catchTag(Effect.retry(cancel(child), retry), "StoreUnavailable", logOutage)
      )
    )
  })
)
