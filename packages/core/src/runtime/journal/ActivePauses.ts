/**
 * This node's copy of all pauses, so that nothing without a pause needs a query.
 *
 * A change on another node arrives as a message of the bus. If it is lost, a poll of the store finds it within 30 s. A claim
 * checks each pause in the store before it holds deliveries, so an outdated copy holds nothing.
 */
import { Context, Effect, Latch, Layer, Schedule } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import { forkSupervised } from "../../foundation/Supervised.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { subscribe } from "../../platform/cluster/subscribe.ts"
import { findPause, type Pause, type PauseTarget, versionOf } from "../runs/Pause.ts"
import { PauseStore } from "../runs/PauseStore.ts"
import { StorePoller } from "./StorePoller.ts"

/** Pause in milliseconds after the store did not answer. */
const retryMs = 1_000

export class ActivePauses extends Context.Service<
  ActivePauses,
  {
    /** Returns the active pauses of all environments. */
    readonly all: () => ReadonlyArray<Pause>
    /** Returns the pause that covers the function; undefined without one. */
    readonly find: (target: PauseTarget) => Pause | undefined
    /** Returns pauses that have ended, and whose deliveries are not yet released. */
    readonly ending: () => ReadonlyArray<Pause>
    /** Reads the pauses again and notifies the other nodes. Call it after a change. */
    readonly changed: Effect.Effect<void, StoreUnavailable>
  }
>()("@weft/core/runtime/journal/ActivePauses") {
  static readonly layer = Layer.effect(
    ActivePauses,
    Effect.gen(function* () {
      const store = yield* PauseStore
      const bus = yield* ClusterBus
      const poller = yield* StorePoller
      const outdated = Latch.makeUnsafe(false)
      let active: ReadonlyMap<string, ReadonlyArray<Pause>> = new Map()
      let all: ReadonlyArray<Pause> = []
      let ending: ReadonlyArray<Pause> = []
      let version = ""

      let begun = 0
      let applied = 0

      const apply = (pauses: ReadonlyArray<Pause>) => {
        version = versionOf(pauses)
        all = pauses.filter(({ resumed_at }) => resumed_at === null)
        ending = pauses.filter(({ resumed_at }) => resumed_at !== null)
        active = Map.groupBy(all, ({ env_id }) => env_id)
      }

      const read = Effect.suspend(() => {
        const number = ++begun
        return Effect.map(store.all, (pauses) => {
          // A later query may have answered first.
          if (number < applied) return
          applied = number
          apply(pauses)
        })
      })

      // Nothing is claimed before the pauses are known.
      yield* Effect.retry(read, Schedule.spaced(retryMs))

      yield* subscribe(
        (message) => (message.type === "pauses:changed" ? Effect.asVoid(outdated.open) : Effect.void),
        Effect.asVoid(outdated.open)
      )
      yield* poller.onPoll(({ pauses_version }) => {
        if (pauses_version !== version) outdated.openUnsafe()
      })
      const readOutdated = outdated.await.pipe(
        Effect.andThen(Effect.sync(() => outdated.closeUnsafe())),
        Effect.andThen(Effect.onError(read, () => Effect.sync(() => outdated.openUnsafe())))
      )
      yield* forkSupervised({ name: "The reader of pauses", afterFailure: Effect.sleep(retryMs) }, readOutdated)

      return ActivePauses.of({
        all: () => all,
        find: (target) => {
          if (all.length === 0) return undefined
          const pauses = active.get(target.env_id)
          return pauses === undefined ? undefined : findPause(pauses, target)
        },
        ending: () => ending,
        changed: Effect.andThen(read, bus.sendControl([{ type: "pauses:changed" }]))
      })
    })
  )
}
