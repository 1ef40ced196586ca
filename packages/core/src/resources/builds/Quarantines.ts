/**
 * End of the quarantine of builds, on every node.
 *
 * Each node quarantines builds by its own observations and forgets them when it restarts. If a message to another node is
 * lost, the quarantine there ends when its strikes expire.
 */
import { Context, Effect, Layer } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { BuildId } from "../../foundation/Ids.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { subscribe } from "../../platform/cluster/subscribe.ts"
import { Sandbox } from "../../platform/sandbox/Sandbox.ts"
import type { Build } from "./Build.ts"

export class Quarantines extends Context.Service<
  Quarantines,
  {
    /** Lifts the quarantine of a build on this node, and notifies the others. */
    readonly clear: (buildId: BuildId) => Effect.Effect<void>
    /** As `clear`, on request of the caller. The audit log records it (`auditedQuarantines`). */
    readonly release: (build: Build) => Effect.Effect<void, StoreUnavailable>
  }
>()("@weft/core/resources/builds/Quarantines") {
  static readonly layer: Layer.Layer<Quarantines, never, ClusterBus | Sandbox> = Layer.effect(
    Quarantines,
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const bus = yield* ClusterBus
      yield* subscribe(
        (message) => (message.type === "quarantine:cleared" ? sandbox.clearQuarantine(message.build_id) : Effect.void),
        Effect.void
      )
      const clear = (buildId: BuildId): Effect.Effect<void> =>
        Effect.andThen(
          sandbox.clearQuarantine(buildId),
          bus.sendControl([{ type: "quarantine:cleared", build_id: buildId }])
        )
      return Quarantines.of({ clear, release: ({ build_id }) => clear(build_id) })
    })
  )
}
