/** Starts dead letters again: prepares their deliveries, then stores them in bounded transactions. */
import { Effect } from "effect"
import type { NotFound, PlanRequired, RateLimited, StoreUnavailable } from "../../foundation/Errors.ts"
import { DeliveryId, type EnvId, freshIds } from "../../foundation/Ids.ts"
import { KeyedSemaphore } from "../../foundation/KeyedSemaphore.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import type { Match } from "../../resources/builds/Deployments.ts"
import { Quotas } from "../../tenants/orgs/Quotas.ts"
import { Claimer } from "../dispatch/Claimer.ts"
import { Slots } from "../dispatch/Slots.ts"
import { EventStore } from "../events/EventStore.ts"
import { type DeadLetterRef, DeadLetterStore, type Redrive } from "../runs/DeadLetterStore.ts"
import { makeFindReplays, type ReplayBuild } from "./ReplayMatch.ts"
import { makeReplayDelivery } from "./replayDelivery.ts"

/** Maximum concurrent redrives of an environment, behind which those of other environments wait. */
const redrivesPerEnv = 2

/** Maximum events that are read at once. */
const eventsAtOnce = 4

/** A letter with the function that runs it again, or the reason why none does. */
export type Matched = { readonly letter: DeadLetterRef } & ({ readonly match: Match } | { readonly reason: string })

/** A letter with its delivery, or the reason why it cannot start. */
type Prepared = { readonly redrive: Redrive } | { readonly reason: string }

/** Reason for a letter that another request has redriven or discarded. */
const goneReason = "it was redriven or discarded meanwhile"

export const makeRedrive = Effect.gen(function* () {
  const store = yield* DeadLetterStore
  const events = yield* EventStore
  const quotas = yield* Quotas
  const toDelivery = yield* makeReplayDelivery
  const fresh = yield* freshIds
  const findReplays = yield* makeFindReplays
  const claimer = yield* Claimer
  const slots = yield* Slots
  const bus = yield* ClusterBus
  const permits = new KeyedSemaphore(redrivesPerEnv)

  /** Returns the letters with their functions. */
  const match = (letters: ReadonlyArray<DeadLetterRef>, build: ReplayBuild) =>
    Effect.map(findReplays(letters, build), (matches) =>
      matches.flatMap((found, index): ReadonlyArray<Matched> => {
        const letter = letters[index]
        if (letter === undefined) return []
        return [typeof found === "string" ? { letter, reason: found } : { letter, match: found }]
      })
    )

  /** Returns the delivery of a letter, or the reason why it cannot start. */
  const prepare = Effect.fnUntraced(
    function* (letter: DeadLetterRef, match: Match, id: DeliveryId) {
      const { env_id, event_id, run_id } = letter
      const event = event_id === null ? null : yield* events.get(env_id, event_id)
      if (event === null) return { reason: "its event is not stored" }
      return { redrive: { runId: run_id, delivery: yield* toDelivery(event, match, id, letter) } }
    },
    Effect.catchTag("NotFound", ({ message }) => Effect.succeed({ reason: message }))
  )

  /** Stores the deliveries, and starts them. Returns the number of the stored ones. */
  const start = (envId: EnvId, redrives: ReadonlyArray<Redrive>) =>
    Effect.gen(function* () {
      const { length } = yield* permits.withPermit(envId, store.redrive(envId, redrives))
      if (length === 0) return 0
      claimer.claim(slots.addPending(envId))
      yield* bus.sendControl([{ type: "deliveries:waiting", node_id: null }])
      return length
    }).pipe(Effect.uninterruptible)

  /** Redrives one batch. Calls `onSkipped` for each letter that keeps its mark or had none. Returns the number of the others. */
  const redrive = Effect.fnUntraced(function* (
    envId: EnvId,
    batch: ReadonlyArray<Matched>,
    onSkipped: (reason: string, count: number) => void
  ): Effect.fn.Return<number, PlanRequired | RateLimited | NotFound | StoreUnavailable> {
    const ids: Array<DeliveryId> = []
    // In the order of the letters, so that the oldest starts first.
    for (const _ of batch) ids.push(yield* fresh(DeliveryId))
    const prepared: ReadonlyArray<Prepared> = yield* Effect.forEach(
      batch,
      (each, index) => {
        const id = ids[index]
        if ("reason" in each) return Effect.succeed({ reason: each.reason })
        return id === undefined ? Effect.succeed({ reason: goneReason }) : prepare(each.letter, each.match, id)
      },
      { concurrency: eventsAtOnce }
    )
    const redrives = prepared.flatMap((each) => ("redrive" in each ? each.redrive : []))
    for (const each of prepared) if ("reason" in each) onSkipped(each.reason, 1)
    if (redrives.length === 0) return 0
    yield* quotas.admitPending(envId, redrives.length)
    yield* quotas.admit(envId, redrives.length)
    if (redrives.some(({ delivery }) => delivery.durable)) yield* quotas.admitDurable(envId)
    const started = yield* start(envId, redrives)
    if (started < redrives.length) onSkipped(goneReason, redrives.length - started)
    return started
  })

  return { match, redrive }
})
