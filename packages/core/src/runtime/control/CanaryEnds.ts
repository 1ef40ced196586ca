/** Ends of canaries: by their rules and by hand. Each is stored once, and then every node and the audit log know it. */
import { Context, Effect, Layer } from "effect"
import type { NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import { EventId, freshIds, StreamId } from "../../foundation/Ids.ts"
import { toJsonText } from "../../foundation/JsonText.ts"
import { NodeMetrics } from "../../foundation/telemetry/NodeMetrics.ts"
import { now } from "../../foundation/time/Timestamp.ts"
import { type Canary, canaryPromotedType, canaryRolledBackType } from "../../resources/builds/Canary.ts"
import type { CanaryEnd } from "../../resources/builds/CanaryStore.ts"
import { CanaryStore } from "../../resources/builds/CanaryStore.ts"
import { Deployments } from "../../resources/builds/Deployments.ts"
import { Quotas } from "../../tenants/orgs/Quotas.ts"
import type { Event } from "../events/Event.ts"
import { EventExpressions } from "../events/EventExpressions.ts"
import { EventLog } from "../events/EventLog.ts"
import { ActiveCanaries } from "../journal/ActiveCanaries.ts"

/** Delay of the second redirection, after nodes with an outdated copy have used it. */
const redirectAgainMs = 5_000

export class CanaryEnds extends Context.Service<
  CanaryEnds,
  {
    /** Ends a canary. Fails with `NotFound` if it has ended before. */
    readonly end: (
      canary: Canary,
      end: Pick<CanaryEnd, "state" | "reason">
    ) => Effect.Effect<Canary, NotFound | StoreUnavailable>
  }
>()("@weft/core/runtime/control/CanaryEnds") {
  static readonly layer = Layer.effect(
    CanaryEnds,
    Effect.gen(function* () {
      const store = yield* CanaryStore
      const active = yield* ActiveCanaries
      const deployments = yield* Deployments
      const publish = yield* makePublish
      const metrics = yield* NodeMetrics
      const scope = yield* Effect.scope
      const ended = { promoted: 0, rolled_back: 0, replaced: 0 }

      metrics.register(
        Effect.sync(() =>
          (["promoted", "rolled_back", "replaced"] as const).map((state) => ({
            type: "counter",
            name: "weft_canaries_ended_total",
            help: "Canaries that ended on this node",
            labels: { state },
            value: ended[state]
          }))
        )
      )

      const redirectAgain = (canary: Canary) =>
        Effect.sleep(redirectAgainMs).pipe(
          Effect.andThen(store.redirect(canary)),
          Effect.catchTag("StoreUnavailable", (error) => Effect.logWarning(error.message, error.cause)),
          Effect.forkIn(scope)
        )

      return CanaryEnds.of({
        end: Effect.fnUntraced(function* (canary, { state, reason }) {
          const { env_id, project_id, build_id, canary_id } = canary
          const stored = yield* store.end(env_id, canary_id, { state, reason, at: yield* now })
          ended[state]++
          yield* Effect.andThen(deployments.changed(env_id), active.changed)
          const line = `The canary ${build_id} of project ${project_id} in environment ${env_id} is ${describe[state]}`
          yield* state === "rolled_back"
            ? Effect.logWarning(`${line}: ${reason}`)
            : Effect.logInfo(`${line}: ${reason}`)
          if (state === "rolled_back") yield* redirectAgain(stored)
          if (state !== "replaced") yield* publish(stored)
          return stored
        }, Effect.uninterruptible)
      })
    })
  )
}

const describe = { promoted: "promoted", rolled_back: "rolled back", replaced: "replaced" }

/** Returns a function that publishes the event about the end of a canary. */
const makePublish = Effect.gen(function* () {
  const log = yield* EventLog
  const deployments = yield* Deployments
  const expressions = yield* EventExpressions
  const quotas = yield* Quotas
  const fresh = yield* freshIds

  return Effect.fnUntraced(
    function* (canary: Canary) {
      const { env_id } = canary
      const instant = canary.ended_at ?? (yield* now)
      const event: Event = {
        event_id: yield* fresh(EventId),
        env_id,
        stream_id: yield* fresh(StreamId),
        event_type: canary.state === "promoted" ? canaryPromotedType : canaryRolledBackType,
        event_data: toJsonText({
          canary_id: canary.canary_id,
          project_id: canary.project_id,
          build_id: canary.build_id,
          base_build_id: canary.base_build_id,
          reason: canary.reason
        }),
        event_time: instant,
        created_at: instant
      }
      const deployed = yield* deployments.of(env_id)
      const matches = yield* expressions.select(event, deployed.exactMatches(event.event_type))
      if (matches.length > 0) yield* quotas.admit(env_id, matches.length)
      yield* log.append({ event, matches, cause: { run_id: null, depth: 0 }, beginsStream: true, request: null })
    },
    (published, { env_id }) =>
      Effect.catch(published, (error) =>
        Effect.logWarning(`The end of a canary in environment ${env_id} is not published: ${error.message}`)
      )
  )
})
