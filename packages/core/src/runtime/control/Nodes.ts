/**
 * The nodes of a cluster, for its operator.
 *
 * A list asks all nodes by the cluster bus, so an idle node stores nothing about itself. A node that is down or disconnected
 * does not answer.
 */
import { Context, Effect, Layer, PubSub } from "effect"
import type { NodeId } from "../../foundation/Ids.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import type { NodeSummary } from "../../platform/cluster/NodeSummary.ts"
import { subscribe } from "../../platform/cluster/subscribe.ts"
import { Slots, type SlotsConfig } from "../dispatch/Slots.ts"
import { NodeLease } from "../journal/NodeLease.ts"

/** Time for the answers of other nodes. */
const answerTime = "500 millis"
/** Maximum nodes of a list. */
const nodesMax = 1_000

export class Nodes extends Context.Service<
  Nodes,
  {
    /** Sets the release and the commit that this node states. */
    readonly introduce: (release: Pick<NodeSummary, "version" | "git_sha">) => void
    /** Returns the nodes that answer within 500 ms, ordered by id. Callers within a second share one result. */
    readonly list: Effect.Effect<ReadonlyArray<NodeSummary>>
  }
>()("@weft/core/runtime/control/Nodes") {
  static readonly layer = ({ total }: SlotsConfig) =>
    Layer.effect(
      Nodes,
      Effect.gen(function* () {
        const bus = yield* ClusterBus
        const slots = yield* Slots
        const { nodeId } = yield* NodeLease
        const start_time = yield* currentTime
        let release: Pick<NodeSummary, "version" | "git_sha"> = { version: null, git_sha: null }
        const own = (): NodeSummary => ({
          node_id: nodeId,
          ...release,
          start_time,
          deliveries_running: total - slots.free(),
          deliveries_max: total
        })

        yield* subscribe(
          (message) =>
            message.type === "nodes:asked"
              ? Effect.suspend(() => bus.sendControl([{ type: "nodes:answered", node: own() }]))
              : Effect.void,
          Effect.void
        )

        const ask = Effect.gen(function* () {
          const answers = yield* bus.control
          const found = new Map<NodeId, NodeSummary>()
          const collect = Effect.map(PubSub.takeAll(answers), (messages) => {
            for (const message of messages) {
              if (message.type === "nodes:answered" && found.size < nodesMax) {
                found.set(message.node.node_id, message.node)
              }
            }
          })
          yield* bus.sendControl([{ type: "nodes:asked" }])
          yield* Effect.timeoutOption(Effect.forever(collect), answerTime)
          return [...found.values()].sort((a, b) => (a.node_id < b.node_id ? -1 : 1))
        }).pipe(Effect.scoped)

        return Nodes.of({
          introduce: (stated) => {
            release = stated
          },
          list: yield* Effect.cachedWithTTL(ask, "1 second")
        })
      })
    )
}
