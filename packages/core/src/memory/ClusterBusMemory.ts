/** `ClusterBus` within one process: complete for a single node. */
import { Effect, Layer } from "effect"
import type { ActivityEvent } from "../platform/cluster/ActivityEvent.ts"
import { ClusterBus, type Gap } from "../platform/cluster/ClusterBus.ts"
import type { ControlMessage } from "../platform/cluster/ControlMessage.ts"
import { localChannel } from "../platform/cluster/LocalChannel.ts"

export const layer: Layer.Layer<ClusterBus> = Layer.effect(
  ClusterBus,
  Effect.gen(function* () {
    const activity = yield* localChannel<ActivityEvent>()
    const control = yield* localChannel<ControlMessage>()
    const gaps = yield* localChannel<Gap>()
    return ClusterBus.of({
      hasSubscribers: activity.hasSubscribers,
      publish: activity.publish,
      activity: activity.subscribe,
      sendControl: control.publish,
      control: control.subscribe,
      gaps: gaps.subscribe,
      disconnectedSince: () => null,
      metrics: Effect.succeed([])
    })
  })
)
