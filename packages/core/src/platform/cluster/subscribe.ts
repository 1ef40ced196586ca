/** Subscriptions that keep a node's snapshots current. */
import { Effect, PubSub, type Scope } from "effect"
import { forkSupervised } from "../../foundation/Supervised.ts"
import { ClusterBus } from "./ClusterBus.ts"
import type { ControlMessage } from "./ControlMessage.ts"

/**
 * Runs `handle` on every control message, in order, until the scope closes. Runs `lost` after a gap, in which control
 * messages may have been lost. `lost` must have the effect of all possible messages.
 */
export const subscribe = (
  handle: (message: ControlMessage) => Effect.Effect<void>,
  lost: Effect.Effect<void>
): Effect.Effect<void, never, ClusterBus | Scope.Scope> =>
  Effect.gen(function* () {
    const bus = yield* ClusterBus
    const control = yield* bus.control
    const gaps = yield* bus.gaps
    yield* forkSupervised(
      { name: "A subscriber to control messages" },
      Effect.flatMap(PubSub.takeAll(control), (messages) => Effect.forEach(messages, handle, { discard: true }))
    )
    yield* forkSupervised(
      { name: "A subscriber to gaps of the bus" },
      Effect.flatMap(PubSub.takeAll(gaps), (some) => (some.some((gap) => gap.of === "everything") ? lost : Effect.void))
    )
  })
