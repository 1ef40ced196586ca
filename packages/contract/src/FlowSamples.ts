/** Deliveries with rules of flow control, and claims of them, for the checks of stores. */
import {
  type Admission,
  AdmissionStore,
  type ClaimResult,
  type Delivery,
  type DeliveryStore,
  type FlowRule,
  JournalStore
} from "@weft/core/adapter"
import { Effect } from "effect"
import { claimRequest, type JournalStores } from "./Claims.ts"
import { at, delivery, deliveryId, ended, envId, event, nodeId, runIds } from "./Samples.ts"

export type FlowStores = AdmissionStore | DeliveryStore | JournalStores

const day = 86_400_000

export interface Published {
  readonly now?: number
  readonly env?: number
  readonly fields?: Partial<Delivery>
}

/** Event `n` with delivery `n`, for which the rules decide at `now`. */
export const admission = (
  n: number,
  rules: ReadonlyArray<FlowRule>,
  { now = 0, env = 1, fields = {} }: Published = {}
): Admission => {
  const published = event(n, { env_id: envId(env), created_at: at(now), event_time: at(now) })
  const only = delivery(n, published, { due_at: at(now), ...fields })
  return {
    event: published,
    deliveries: [{ delivery: only, onceKey: null, rules }],
    request: null,
    now: at(now),
    until: at(now + day)
  }
}

/** Returns true if the delivery was stored. */
export const admit = (n: number, rules: ReadonlyArray<FlowRule>, published: Published = {}) =>
  AdmissionStore.use((store) => store.admit(admission(n, rules, published))).pipe(
    Effect.map((outcome) => outcome._tag === "Stored" && outcome.deliveries.length === 1)
  )

/** Admits deliveries 1 to 20 at the same time. Returns the number of stored ones. */
export const admitMany = (rules: ReadonlyArray<FlowRule>, fields: Partial<Delivery> = {}) =>
  Effect.forEach(
    Array.from({ length: 20 }, (_, index) => index + 1),
    (n) => admit(n, rules, { fields }),
    { concurrency: "unbounded" }
  ).pipe(Effect.map((stored) => stored.filter(Boolean).length))

/** Claims at `now`, with runs of its own. */
export const claim = (now: number, node = 1) =>
  JournalStore.use((journal) =>
    journal.claim(
      claimRequest(at(now), {
        lease: { node_id: nodeId(node), until: at(now + 1_000) },
        runIds: runIds(now * 1_000 + node * 100, 100)
      })
    )
  )

export const idsOf = ({ claims }: ClaimResult) => claims.map((each) => each.delivery.delivery_id).sort()

export const ids = (...numbers: ReadonlyArray<number>) => numbers.map(deliveryId)

/** Ends the claimed runs at `now`. */
export const endAll = ({ claims }: ClaimResult, now: number) =>
  JournalStore.use((journal) =>
    journal.commit(
      claims.map(({ run, delivery: { delivery_id } }) => ({
        _tag: "Settled",
        run: ended(run, { stop_time: at(now) }),
        logs: [],
        deliveryId: delivery_id,
        next: null
      })),
      null
    )
  )

/** A rule that stores the first delivery within 100 ms. */
export const dedupe = { _tag: "Dedupe", key: "d", window_ms: 100 } satisfies FlowRule

/** A group with one run at a time. */
export const one = { group: { key: "g", limit: 1 } }
