/** Runs a function again for a stored event. */
import { Effect } from "effect"
import { BadRequest } from "../../foundation/Errors.ts"
import { DeliveryId, freshIds } from "../../foundation/Ids.ts"
import { KeyedSemaphore } from "../../foundation/KeyedSemaphore.ts"
import { currentTraceparent } from "../../foundation/telemetry/Spans.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { Quotas } from "../../tenants/orgs/Quotas.ts"
import { Claimer } from "../dispatch/Claimer.ts"
import { Slots } from "../dispatch/Slots.ts"
import { EventStore } from "../events/EventStore.ts"
import { newDelivery } from "../runs/Attempt.ts"
import { makeDeliveryKeys } from "../runs/DeliveryKeys.ts"
import type { Run } from "../runs/Run.ts"
import { RunControlStore } from "../runs/RunControlStore.ts"
import { RunStore } from "../runs/RunStore.ts"
import { admitDelivery } from "./admitDelivery.ts"
import { makeFork } from "./ReplayFrom.ts"
import { makeFindReplay, type ReplayBuild } from "./ReplayMatch.ts"
import { StreamWatch } from "./StreamWatch.ts"

/** Maximum concurrent transactions of replays of an environment, behind which those of other environments wait. */
const replaysPerEnv = 4

/** Maximum wait for the start of the new run, in milliseconds. */
const startWaitMs = 1_000

/** Maximum newest replays of the same run among which the new run is searched. */
const searchedMax = 10

export const makeReplay = Effect.gen(function* () {
  const events = yield* EventStore
  const runs = yield* RunStore
  const store = yield* RunControlStore
  const quotas = yield* Quotas
  const watch = yield* StreamWatch
  const keys = yield* makeDeliveryKeys
  const fresh = yield* freshIds
  const findMatch = yield* makeFindReplay
  const claimer = yield* Claimer
  const slots = yield* Slots
  const bus = yield* ClusterBus
  const permits = new KeyedSemaphore(replaysPerEnv)

  const fork = yield* makeFork

  return Effect.fnUntraced(function* (run: Run, build: ReplayBuild, from?: string) {
    const { env_id, event_id } = run
    if (event_id === null)
      return yield* new BadRequest({
        reason: "The run has no event and cannot be replayed: requests of webhooks and tools are not stored"
      })
    const event = yield* events.get(env_id, event_id)
    const match = yield* findMatch(run, build)
    const before = from === undefined ? null : yield* fork.findPosition(run, from)
    yield* admitDelivery(quotas, env_id, match.handler)
    const replays = runs.replays(run, searchedMax)
    const known = new Set(yield* replays)

    const group = yield* keys.group(event, match)
    const id = yield* fresh(DeliveryId)
    const delivery = newDelivery(event, match, id, { run_id: run.run_id, depth: 0 }, group, yield* currentTraceparent)
    const due = { ...delivery, ...(yield* keys.startTerms(event, match)), due_at: yield* currentTime }
    yield* permits.withPermit(env_id, before === null ? store.redeliver(due) : fork.start(run, due, before))
    claimer.claim(slots.addPending(env_id))
    yield* bus.sendControl([{ type: "deliveries:waiting", node_id: null }])

    const begun = Effect.map(replays, (all) => all.find((id) => !known.has(id)) ?? null)
    const newId = yield* watch.until(event.stream_id, begun, startWaitMs)
    return { event, run: newId === null ? null : yield* runs.get(env_id, newId) }
  })
})
