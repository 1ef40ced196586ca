/**
 * Publishes events in a transaction of the host.
 *
 * The rules are those of `Events.publish`, but no node is notified: the host decides whether and when to commit. The
 * store notifies the nodes after the commit.
 */
import { Context, Effect, Layer } from "effect"
import { encodeContent, encodeControl } from "../../platform/cluster/BusCodec.ts"
import type { ControlMessage } from "../../platform/cluster/ControlMessage.ts"
import { toSingleFrame } from "../../platform/cluster/FrameReassembler.ts"
import type { Caller } from "../../tenants/access/Caller.ts"
import type { Event } from "../events/Event.ts"
import { EventLog, type Publication } from "../events/EventLog.ts"
import { makePublishEvent, type NewEvent, type PublishError } from "../events/publishEvent.ts"
import { latestActivity, publicationActivity } from "../runs/Activity.ts"
import type { AdmissionStore } from "../runs/AdmissionStore.ts"
import { toStopMessages } from "./CancelledRuns.ts"
import { type AdmissionResult, admitTo, findEarlier, makeCancelKeys, makeDeliveries } from "./Idempotency.ts"

/** An event that is stored if the transaction is committed. */
export interface TransactionalEvent {
  readonly event: Event
  /** Text for the cluster bus, to send after the commit; null for a repeated request. */
  readonly text: string | null
}

export class HostTransactions extends Context.Service<
  HostTransactions,
  {
    /**
     * As `Events.publish`, in the host's transaction. If it fails nothing is stored, but the runs count towards the
     * plan's quota for some seconds.
     */
    readonly publish: (
      admissions: AdmissionStore["Service"],
      event: NewEvent
    ) => Effect.Effect<TransactionalEvent, PublishError, Caller>
  }
>()("@weft/core/runtime/dispatch/HostTransactions") {
  static readonly layer = Layer.effect(
    HostTransactions,
    Effect.gen(function* () {
      const publishEvent = yield* makePublishEvent
      const toDeliveries = yield* makeDeliveries
      const toCancelKeys = yield* makeCancelKeys

      /** Returns a log that stores with `admissions` and adds the text for the bus to `texts`. */
      const makeLog = (admissions: AdmissionStore["Service"], texts: Array<string>) => {
        const append = Effect.fnUntraced(function* (publication: Publication) {
          const admitted = yield* admitTo(
            admissions,
            publication,
            yield* toDeliveries(publication),
            yield* toCancelKeys(publication)
          )
          if (admitted.isNew) texts.push(encodeText(publication, admitted))
          return admitted.event
        })
        return EventLog.of({
          append,
          appendAll: (publications) => Effect.forEach(publications, append),
          earlier: (envId, request) => findEarlier(admissions, envId, request)
        })
      }

      return HostTransactions.of({
        publish: (admissions, input) =>
          Effect.suspend(() => {
            const texts: Array<string> = []
            return Effect.map(publishEvent.one(makeLog(admissions, texts), input), (event) => ({
              event,
              text: texts[0] ?? null
            }))
          })
      })
    })
  )
}

const encodeText = (publication: Publication, { isPending, replaced }: AdmissionResult): string => {
  const ended = replaced.runs.map(({ run }) => run)
  const control: Array<ControlMessage> = [...toStopMessages(ended)]
  if (isPending) control.push({ type: "deliveries:waiting", node_id: null })
  if (publication.schedule?._tag === "Created") control.push({ type: "schedules:changed" })
  const content = {
    control: control.map(encodeControl),
    activity: [...publicationActivity(publication.event, publication.beginsStream), ...ended.map(latestActivity)],
    wantsActivity: null,
    queriesInterest: false,
    silentSince: null
  }
  return toSingleFrame(encodeContent(content))
}
