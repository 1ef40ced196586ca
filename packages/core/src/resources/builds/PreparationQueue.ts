/**
 * Queue for the preparation of builds, which environments pass in turns.
 *
 * The compiler processes one build at a time, and every build in preparation is in memory. Therefore each environment
 * prepares at most one build at a time: its other builds wait without a place in the queue. So an environment delays
 * the build of another one by at most one preparation, however many builds it has.
 */
import { Context, Effect, Layer, RcMap, Semaphore } from "effect"
import type { EnvId } from "../../foundation/Ids.ts"

/** Maximum builds in preparation at the same time: one compiles while another one is read or loaded. */
const preparationsMax = 2

export class PreparationQueue extends Context.Service<
  PreparationQueue,
  {
    /** Runs `preparation` when it is the turn of the environment. Builds of one environment keep their order. */
    readonly withTurn: (envId: EnvId) => <A, E, R>(preparation: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("@weft/core/resources/builds/PreparationQueue") {
  static readonly layer: Layer.Layer<PreparationQueue> = Layer.effect(
    PreparationQueue,
    Effect.gen(function* () {
      const places = yield* Semaphore.make(preparationsMax)
      const turns = yield* RcMap.make({ lookup: (_: EnvId) => Semaphore.make(1) })
      return PreparationQueue.of({
        withTurn: (envId) => (preparation) =>
          Effect.scoped(
            Effect.flatMap(RcMap.get(turns, envId), (turn) => turn.withPermit(places.withPermit(preparation)))
          )
      })
    })
  )
}
