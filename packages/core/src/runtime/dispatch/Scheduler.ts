/**
 * Fires schedules at their time.
 *
 * Every node has one timer, for the next tick of all schedules in the store. The store lets one node store each tick,
 * with its event and a pending delivery. While the runs of a plan are used up, its ticks are postponed before they become
 * deliveries. So several missed ticks of a schedule become one when the plan allows runs again. So do ticks during a pause.
 */
import { Clock, Effect, Latch, Layer } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import { DeliveryId, EventId, freshIds, StreamId } from "../../foundation/Ids.ts"
import { fromJsonText, toJsonText } from "../../foundation/JsonText.ts"
import { forkSupervised } from "../../foundation/Supervised.ts"
import { addMillis, now as currentTime, iso, type Timestamp } from "../../foundation/time/Timestamp.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { subscribe } from "../../platform/cluster/subscribe.ts"
import { BuildStore } from "../../resources/builds/BuildStore.ts"
import { Deployments, type Match } from "../../resources/builds/Deployments.ts"
import { dueTick } from "../../resources/schedules/DueTick.ts"
import type { Schedule } from "../../resources/schedules/Schedule.ts"
import { ScheduleStore } from "../../resources/schedules/ScheduleStore.ts"
import { Quotas } from "../../tenants/orgs/Quotas.ts"
import type { Event } from "../events/Event.ts"
import { ActivePauses } from "../journal/ActivePauses.ts"
import { NodeLease } from "../journal/NodeLease.ts"
import { StorePoller } from "../journal/StorePoller.ts"
import { UnconfirmedWrites } from "../journal/UnconfirmedWrites.ts"
import { publicationActivity } from "../runs/Activity.ts"
import { newDelivery } from "../runs/Attempt.ts"
import { makeDeliveryKeys } from "../runs/DeliveryKeys.ts"
import { type Tick, TickStore } from "../runs/TickStore.ts"
import { Claimer } from "./Claimer.ts"
import { DueSchedules } from "./DueSchedules.ts"
import { Slots } from "./Slots.ts"

/** Maximum sleep before the next query of schedules, in milliseconds: timers are limited to 24 days. */
const sleepMaxMs = 3_600_000

/** Delay in milliseconds of a tick that the plan or a pause does not allow, or whose schedule cannot be read. */
const postponeMs = 60_000

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* ScheduleStore
    const dueSchedules = new DueSchedules(store)
    const fire = yield* makeFire
    const poller = yield* StorePoller
    const clock = yield* Clock.Clock
    const wake = Latch.makeUnsafe(false)
    let nextAt: Timestamp | null = null

    yield* subscribe(
      (message) =>
        message.type === "schedules:changed" || message.type === "deployments:changed" ? wake.open : Effect.void,
      Effect.asVoid(wake.open)
    )

    // Finds schedules of a node that died before it could notify others, and those that are due because the clock was set.
    yield* poller.onPoll(({ next_tick_at }) => {
      if (next_tick_at === null) return
      if (nextAt === null || next_tick_at < nextAt || next_tick_at <= clock.currentTimeMillisUnsafe()) wake.openUnsafe()
    })

    /** Fires all due schedules and returns the time of the next tick. */
    const fireDue = Effect.gen(function* (): Effect.fn.Return<Timestamp | null, StoreUnavailable> {
      while (true) {
        const now = yield* currentTime
        const { schedules, hasMore } = yield* dueSchedules.next(now)
        if (schedules.length > 0) yield* fire(schedules, now)
        if (!hasMore) return yield* store.nextDueAt
      }
    })

    const once = Effect.gen(function* () {
      // A change from now on may be too late for this pass.
      wake.closeUnsafe()
      nextAt = yield* fireDue
      const pause = nextAt === null ? sleepMaxMs : Math.min(nextAt - (yield* Clock.currentTimeMillis), sleepMaxMs)
      if (pause > 0) yield* Effect.timeoutOption(wake.await, pause)
    })

    yield* forkSupervised({ name: "The scheduler" }, once)
  })
)

/** Returns a function that fires due schedules and notifies the nodes. */
const makeFire = Effect.gen(function* () {
  const ticks = yield* TickStore
  const unconfirmed = yield* UnconfirmedWrites
  const toTick = yield* makeToTick
  const lease = yield* NodeLease
  const slots = yield* Slots
  const claimer = yield* Claimer
  const bus = yield* ClusterBus

  return Effect.fnUntraced(function* (due: ReadonlyArray<Schedule>, now: Timestamp) {
    // A defect in one schedule does not prevent the others from firing.
    const built = yield* Effect.forEach(due, (schedule) =>
      Effect.catchDefect(toTick(schedule, now), (defect) =>
        Effect.as(Effect.logError(`Schedule ${schedule.schedule_id} cannot be read`, defect), postpone(schedule, now))
      )
    )
    // The events are as old as the query of due schedules, which may have been slow.
    const moved = new Set(yield* unconfirmed.track(ticks.fire(built), now))
    const events = built.flatMap(({ schedule, fired }) =>
      fired !== null && moved.has(schedule.schedule_id) ? [fired.event] : []
    )
    if (events.length === 0) return
    for (const envId of new Set(events.map((event) => event.env_id))) claimer.claim(slots.addPending(envId))
    yield* bus.sendControl([{ type: "deliveries:waiting", node_id: lease.nodeId }])
    yield* bus.publish(events.flatMap((event) => publicationActivity(event, true)))
  }, Effect.uninterruptible)
})

const postpone = (schedule: Schedule, now: Timestamp): Tick => ({
  schedule,
  next: { next_at: schedule.next_at, due_at: addMillis(now, postponeMs) },
  fired: null
})

/** Returns a function that builds the tick of a due schedule. */
const makeToTick = Effect.gen(function* () {
  const findMatch = yield* makeFindMatch
  const quotas = yield* Quotas
  const keys = yield* makeDeliveryKeys
  const pauses = yield* ActivePauses
  const fresh = yield* freshIds

  return Effect.fnUntraced(function* (schedule: Schedule, now: Timestamp): Effect.fn.Return<Tick, StoreUnavailable> {
    const { fires, next_at } = dueTick(schedule, now)
    const next = next_at === null ? null : { next_at, due_at: next_at }
    const skipped = { schedule, next, fired: null }
    const label = `The tick of schedule ${schedule.schedule_id} at ${iso(fires ?? schedule.next_at)}`
    if (fires === null) {
      yield* Effect.logInfo(`${label} was missed by more than an hour and does not fire`)
      return skipped
    }
    const match = yield* findMatch(schedule)
    if (match === null) {
      yield* Effect.logInfo(`${label} does not fire: ${schedule.ns}/${schedule.var} is not deployed`)
      return skipped
    }
    const pause = pauses.find(schedule)
    if (pause !== undefined) {
      // A schedule with one tick only is never skipped.
      return pause.schedules === "skip" && schedule.cron !== null ? skipped : postpone(schedule, now)
    }
    const admitted = Effect.andThen(
      match.handler.durable ? quotas.admitDurable(schedule.env_id) : Effect.void,
      quotas.admit(schedule.env_id, 1)
    )
    const mayRun = yield* Effect.as(admitted, true).pipe(
      Effect.catchTags({ PlanRequired: () => Effect.succeed(false), NotFound: () => Effect.succeed(false) })
    )
    if (!mayRun) return postpone(schedule, now)
    const event: Event = {
      event_id: yield* fresh(EventId),
      env_id: schedule.env_id,
      stream_id: yield* fresh(StreamId),
      event_type: "svc:schedule",
      event_data: tickData(schedule, fires),
      event_time: fires,
      created_at: now
    }
    const group = yield* keys.group(event, match)
    const delivery = newDelivery(event, match, yield* fresh(DeliveryId), { run_id: null, depth: schedule.depth }, group)
    return { schedule, next, fired: { event, delivery: { ...delivery, ...(yield* keys.startTerms(event, match)) } } }
  })
})

/** Returns a function that finds the function of a schedule in the deployed build of its project, or null. */
const makeFindMatch = Effect.gen(function* () {
  const deployments = yield* Deployments
  const builds = yield* BuildStore

  return Effect.fnUntraced(function* (schedule: Schedule): Effect.fn.Return<Match | null, StoreUnavailable> {
    const { env_id, project_id, ns } = schedule
    const found = (yield* deployments.of(env_id))
      .functions(`${ns}/${schedule.var}`)
      .find(({ build }) => build.project_id === project_id)
    if (found !== undefined) return { ...found, run_type: "schedule" }
    // The schedule may be stored before this node is notified of the deployment that has its function.
    const deployed = (yield* builds.deployments(env_id)).find(({ build }) => build.project_id === project_id)
    const handler = deployed?.manifest.functions.find((fn) => fn.ns === ns && fn.var === schedule.var)
    return deployed === undefined || handler === undefined
      ? null
      : { build: deployed.build, handler, run_type: "schedule" }
  })
})

const tickData = ({ schedule_id, ns, var: name, args, cron }: Schedule, tick: Timestamp) =>
  toJsonText({
    fn: `${ns}/${name}`,
    ...(args === null ? {} : { args: fromJsonText(args) }),
    schedule_id,
    scheduled_time: iso(tick),
    cron
  })
