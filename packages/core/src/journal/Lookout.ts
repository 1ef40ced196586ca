/**
 * Looks at the journal from time to time, for all who would otherwise have to look themselves.
 *
 * News tells a node what there is to do. What nobody told, because the node that should have is dead, is found here:
 * runs that it held, deliveries that it meant to try again, places in groups that it owed to others, schedules. One statement
 * outside of any transaction finds all of that, so that an idle node costs the database next to nothing.
 */
import { Context, Effect, Layer, type Scope } from "effect"
import { forkLasting } from "../errors/Lasting.ts"
import { now as currentTime } from "../ids/Timestamp.ts"
import { JournalStore, type Sight } from "./JournalStore.ts"
import { NodeLease } from "./NodeLease.ts"
import { Untold } from "./Untold.ts"

/** Between two looks. */
export const everyMs = 30_000

export class Lookout extends Context.Service<
  Lookout,
  {
    /** Calls `act` with what each look finds, until the scope closes. It is to return at once. */
    readonly onSight: (act: (sight: Sight) => void) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@weft/core/runs/Lookout") {
  static readonly layer = Layer.effect(
    Lookout,
    Effect.gen(function* () {
      const store = yield* JournalStore
      const { nodeId } = yield* NodeLease
      const untold = yield* Untold
      const acts = new Set<(sight: Sight) => void>()

      const look = Effect.gen(function* () {
        yield* Effect.sleep(everyMs)
        const sight = yield* store.look(nodeId, yield* currentTime)
        // Where nobody writes any more, nobody else would notice.
        yield* untold.answered
        for (const act of acts) act(sight)
      })
      yield* forkLasting({ name: "The lookout", afterFailure: Effect.void }, look)

      return Lookout.of({
        onSight: (act) =>
          Effect.asVoid(
            Effect.acquireRelease(
              Effect.sync(() => acts.add(act)),
              () => Effect.sync(() => acts.delete(act))
            )
          )
      })
    })
  )
}
