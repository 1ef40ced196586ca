/**
 * Publishing in a transaction that the host commits, or does not.
 *
 * The rules are those of `Events.publish`. What differs is that nothing is told: whether the event is there, and when,
 * is the host's to decide, and the store that is written to tells the nodes, when it is.
 */
import { Context, Effect, Layer } from "effect"
import type { Caller } from "../access/Caller.ts"
import { encodeContent, encodeNews } from "../activity/FeedCodec.ts"
import { toTextByItself } from "../activity/FeedPieces.ts"
import type { News } from "../activity/News.ts"
import type { BadRequest, Forbidden, NotFound, PlanRequired, StoreUnavailable } from "../errors/Errors.ts"
import type { Event } from "../events/Event.ts"
import { EventLog, type Publication } from "../events/EventLog.ts"
import { makePublishing, type NewEvent } from "../events/Publishing.ts"
import type { AdmissionStore } from "../runs/AdmissionStore.ts"
import { admitTo, earlierIn, makeDeliveries, newsOf } from "./Admitting.ts"

/** An event that is stored if the transaction is committed. */
export interface Published {
  readonly event: Event
  /** The text for the shared feed of the nodes, to be sent then; null for a request that was made before. */
  readonly text: string | null
}

export class HostTransactions extends Context.Service<
  HostTransactions,
  {
    /**
     * As `Events.publish`, with a store whose transaction is the host's. Where it fails nothing is stored, but for what
     * counts towards the plan's quota for some seconds.
     */
    readonly publish: (
      admissions: AdmissionStore["Service"],
      event: NewEvent
    ) => Effect.Effect<Published, Forbidden | BadRequest | PlanRequired | NotFound | StoreUnavailable, Caller>
  }
>()("@weft/core/runs/HostTransactions") {
  static readonly layer = Layer.effect(
    HostTransactions,
    Effect.gen(function* () {
      const publishing = yield* makePublishing
      const deliveriesOf = yield* makeDeliveries

      /** A log that stores with `admissions` and keeps in `texts` what is to be told. */
      const logOn = (admissions: AdmissionStore["Service"], texts: Array<string>) => {
        const append = Effect.fnUntraced(function* (publication: Publication) {
          const { event, isNew, waiting } = yield* admitTo(admissions, publication, yield* deliveriesOf(publication))
          if (isNew) texts.push(textOf(publication, waiting))
          return event
        })
        return EventLog.of({
          append,
          appendAll: (publications) => Effect.forEach(publications, append),
          earlier: (envId, request) => earlierIn(admissions, envId, request)
        })
      }

      return HostTransactions.of({
        publish: (admissions, input) =>
          Effect.suspend(() => {
            const texts: Array<string> = []
            return Effect.map(publishing.one(logOn(admissions, texts), input), (event) => ({
              event,
              text: texts[0] ?? null
            }))
          })
      })
    })
  )
}

const textOf = (publication: Publication, waiting: number): string => {
  const news: Array<News> = []
  if (waiting > 0) news.push({ type: "deliveries:waiting", node_id: null })
  if (publication.schedule?._tag === "Created") news.push({ type: "schedules:changed" })
  const content = {
    news: news.map(encodeNews),
    activity: newsOf(publication),
    watching: null,
    asks: false,
    silentSince: null
  }
  return toTextByItself(encodeContent(content))
}
