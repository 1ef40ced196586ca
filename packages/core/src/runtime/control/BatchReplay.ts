/** Replays of many runs: the deliveries of a whole batch, of which the caller stores all at once. */
import { Effect } from "effect"
import { DeliveryId, type EventId, freshIds } from "../../foundation/Ids.ts"
import type { Match } from "../../resources/builds/Deployments.ts"
import { Quotas } from "../../tenants/orgs/Quotas.ts"
import type { Event } from "../events/Event.ts"
import { EventStore } from "../events/EventStore.ts"
import type { OperationFailure } from "../runs/Operation.ts"
import type { OperationTarget } from "../runs/OperationStore.ts"
import type { PrepareBatch } from "./OperationWork.ts"
import { makeFindReplays } from "./ReplayMatch.ts"
import { makeReplayDelivery } from "./replayDelivery.ts"

/** Maximum bytes of events that a batch holds in memory. A larger event is a batch of its own. */
const bytesMax = 8 * 1024 * 1024

/** A run with the event and the function that its replay needs. */
interface Replay {
  readonly target: OperationTarget
  readonly event: Event
  readonly match: Match
}

/**
 * Returns the effects of replays and of redrives. Runs without an event are skipped, and so are replays of runs whose delivery
 * was retried. Only a dead letter that still has its mark is redriven.
 */
export const makePrepareReplays = Effect.gen(function* () {
  const events = yield* EventStore
  const quotas = yield* Quotas
  const toDelivery = yield* makeReplayDelivery
  const fresh = yield* freshIds
  const findReplays = yield* makeFindReplays

  const admit = Effect.fnUntraced(function* (replays: ReadonlyArray<Replay>) {
    const [first] = replays
    if (first === undefined) return
    const { env_id } = first.target
    if (replays.some(({ match }) => match.handler.durable)) yield* quotas.admitDurable(env_id)
    yield* quotas.admitPending(env_id, replays.length)
    yield* quotas.admit(env_id, replays.length)
  })

  const prepare: PrepareBatch = Effect.fnUntraced(function* ({ env_id, kind, options }, targets) {
    const batch = fitting(targets)
    const isRedrive = kind === "redrive"
    const replayed = batch.filter(hasEvent).filter(({ is_retried }) => isRedrive || !is_retried)
    const ids = [...new Set(replayed.map(({ event_id }) => event_id))]
    const stored = ids.length === 0 ? [] : yield* events.getMany(env_id, ids)
    const known = new Map(stored.map((event) => [event.event_id, event]))
    const matches = yield* findReplays(replayed, options.build ?? "same")
    const failures: Array<OperationFailure> = []
    const replays: Array<Replay> = []
    for (const [index, target] of replayed.entries()) {
      const event = known.get(target.event_id)
      const match = matches[index]
      if (event !== undefined && typeof match === "object") replays.push({ target, event, match })
      else failures.push({ run_id: target.run_id, reason: typeof match === "string" ? match : "its event was removed" })
    }
    yield* admit(replays)
    const redrives = yield* Effect.forEach(replays, ({ target: { run_id }, event, match }) =>
      Effect.flatMap(fresh(DeliveryId), (id) =>
        Effect.map(toDelivery(event, match, id, run_id), (delivery) => ({ runId: run_id, delivery }))
      )
    )
    return {
      examined: batch.length,
      deliveries: isRedrive ? [] : redrives.map(({ delivery }) => delivery),
      redrives: isRedrive ? redrives : [],
      cancels: [],
      skipped: batch.length - replayed.length,
      failures
    }
  })
  return prepare
})

const hasEvent = (target: OperationTarget): target is OperationTarget & { readonly event_id: EventId } =>
  target.event_id !== null

/** Returns the first targets whose events fit into memory together, at least one. */
const fitting = (targets: ReadonlyArray<OperationTarget>): ReadonlyArray<OperationTarget> => {
  let bytes = 0
  const end = targets.findIndex(({ event_bytes }, index) => {
    bytes += event_bytes
    return index > 0 && bytes > bytesMax
  })
  return end === -1 ? targets : targets.slice(0, end)
}
