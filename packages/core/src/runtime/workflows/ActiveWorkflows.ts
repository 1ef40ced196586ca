/**
 * The durable runs that are active on this node, each from its claim until the end of its activation is stored.
 *
 * Outcomes of waits and requested cleanups reach the store first. A message then reaches the node that executes the run. If
 * it is too late for the activation, the run continues at once.
 */
import { Effect } from "effect"
import type { RunId } from "../../foundation/Ids.ts"
import { InFlightMap } from "../../foundation/InFlightMap.ts"
import { forkSupervised, logOutage } from "../../foundation/Supervised.ts"
import { subscribe } from "../../platform/cluster/subscribe.ts"
import type { Claim } from "../journal/JournalStore.ts"
import { WorkflowStore } from "../runs/WorkflowStore.ts"
import type { Activation } from "./Activation.ts"

/** Interval of queries for requested cleanups, in milliseconds. */
const cleanupCheckMs = 10_000

interface ActiveWorkflow {
  readonly claim: Claim
  /** Stops its guest. */
  readonly stop: () => void
  /** Null while its history is read. */
  activation: Activation | null
  /** True if an outcome or a cleanup arrived that the activation has not received. */
  hasMissed: boolean
}

/** Returns the registry. It receives messages in the current scope. */
export const makeActiveWorkflows = Effect.gen(function* () {
  const store = yield* WorkflowStore
  const active = new InFlightMap<RunId, ActiveWorkflow>()

  /** Gives stored outcomes to the waits of an active run. */
  const receive = (found: ActiveWorkflow): Effect.Effect<void> => {
    const { activation, claim } = found
    if (activation === null || activation.suspension !== null) {
      found.hasMissed = true
      return Effect.void
    }
    return Effect.flatMap(store.arrived(claim.run), (waits) => activation.receive(waits)).pipe(
      Effect.catchTag("StoreUnavailable", logOutage),
      Effect.andThen(
        Effect.sync(() => {
          if (activation.suspension !== null) found.hasMissed = true
        })
      )
    )
  }

  /** Begins the cleanups that were requested of active runs. */
  const beginCleanups = (found: ReadonlyArray<ActiveWorkflow>): Effect.Effect<void> =>
    Effect.gen(function* () {
      if (found.length === 0) return
      const cleanups = yield* store.cleanups(found.map(({ claim }) => claim.run))
      for (const { run_id, until } of cleanups) {
        const each = active.get(run_id)
        if (each === undefined || each.activation === null) continue
        if (each.activation.suspension === null) yield* each.activation.cancel(until)
        else each.hasMissed = true
      }
    }).pipe(Effect.catchTag("StoreUnavailable", logOutage))

  const find = (runIds: ReadonlyArray<RunId>) => runIds.flatMap((runId) => active.get(runId) ?? [])

  const receiveAll = (found: ReadonlyArray<ActiveWorkflow>) => Effect.forEach(found, receive, { discard: true })

  yield* subscribe(
    (message) => {
      if (message.type === "workflows:arrived") return receiveAll(find(message.run_ids))
      return message.type === "workflows:cancelled" ? beginCleanups(find(message.run_ids)) : Effect.void
    },
    Effect.suspend(() => Effect.andThen(receiveAll(active.values()), beginCleanups(active.values())))
  )
  // A request may precede the activation that it is for, or its message may be lost.
  const checkCleanups = Effect.andThen(
    Effect.sleep(cleanupCheckMs),
    Effect.suspend(() => beginCleanups(active.values()))
  )
  yield* forkSupervised({ name: "The check for requested cleanups", afterFailure: Effect.void }, checkCleanups)

  return {
    /** Adds the run of a claim. Stops an earlier activation of the run on this node, which the store has given up. */
    add: (claim: Claim, stop: () => void): void => {
      active.get(claim.run.run_id)?.stop()
      active.set(claim.run.run_id, { claim, stop, activation: null, hasMissed: false })
    },

    /** Sets the activation of a claim. It receives earlier outcomes. */
    begin: (claim: Claim, activation: Activation): Effect.Effect<void> => {
      const found = active.get(claim.run.run_id)
      if (found?.claim !== claim) return Effect.void
      const { hasMissed } = found
      found.activation = activation
      found.hasMissed = false
      return hasMissed ? receive(found) : Effect.void
    },

    has: (runId: RunId): boolean => active.get(runId) !== undefined,

    /**
     * Removes the run of a claim. Returns true if it is to continue at once, because something arrived too late for its
     * activation.
     */
    remove: (claim: Claim): boolean => {
      const { run_id } = claim.run
      const found = active.get(run_id)
      // After an outage, this node may have claimed the run again before its activation ends.
      if (found?.claim !== claim) return false
      active.delete(run_id)
      return found.hasMissed
    }
  }
})
