/**
 * Fires schedules when their time has come.
 *
 * A timer for the next one in the whole store; nothing is polled. Every node has it, and the store lets one of them
 * store each tick, with its event and a delivery that waits. While a plan's runs are used up its ticks are put off,
 * before they become deliveries: so those that come together meanwhile are one when the plan allows it again.
 */
import { Clock, Effect, Latch, Layer } from "effect"
import { Feed } from "../activity/Feed.ts"
import { listen } from "../activity/Listener.ts"
import { BuildStore } from "../builds/BuildStore.ts"
import { Deployments, type Match } from "../builds/Deployments.ts"
import type { StoreUnavailable } from "../errors/Errors.ts"
import { forkLasting } from "../errors/Lasting.ts"
import type { Event } from "../events/Event.ts"
import { DeliveryId, EventId, freshIds, StreamId } from "../ids/Ids.ts"
import { fromJsonText, toJsonText } from "../ids/JsonText.ts"
import { addMillis, now as currentTime, iso, type Timestamp } from "../ids/Timestamp.ts"
import { Lookout } from "../journal/Lookout.ts"
import { NodeLease } from "../journal/NodeLease.ts"
import { Untold } from "../journal/Untold.ts"
import { newDelivery } from "../runs/Attempt.ts"
import { makeConditions } from "../runs/Conditions.ts"
import { type Tick, TickStore } from "../runs/TickStore.ts"
import { dueTick } from "../schedules/DueTick.ts"
import type { Schedule } from "../schedules/Schedule.ts"
import { ScheduleStore } from "../schedules/ScheduleStore.ts"
import { Quotas } from "../tenancy/Quotas.ts"
import { Claimer } from "./Claimer.ts"
import { Slots } from "./Slots.ts"

/** Ticks in one transaction. */
const batch = 100

/** How long it sleeps at most before it looks at its schedules again: timers end at 24 days. */
const napMs = 3_600_000

/** For how long a tick is put off that the plan does not allow, or that cannot be told. */
const putOffMs = 60_000

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* ScheduleStore
    const fire = yield* makeFire
    const lookout = yield* Lookout
    const clock = yield* Clock.Clock
    const wake = Latch.makeUnsafe(false)
    let nextAt: Timestamp | null = null

    yield* listen(
      (message) =>
        message.type === "schedules:changed" || message.type === "deployments:changed" ? wake.open : Effect.void,
      Effect.asVoid(wake.open)
    )

    // Schedules that nobody told of, as the node where they were made is dead; and those that a clock which was set made due.
    yield* lookout.onSight(({ next_tick_at }) => {
      if (next_tick_at === null) return
      if (nextAt === null || next_tick_at < nextAt || next_tick_at <= clock.currentTimeMillisUnsafe()) wake.openUnsafe()
    })

    /** Fires all that is due; when the next one will be. */
    const fireDue = Effect.gen(function* (): Effect.fn.Return<Timestamp | null, StoreUnavailable> {
      while (true) {
        const now = yield* currentTime
        const due = yield* store.due(now, batch)
        if (due.length > 0) yield* fire(due, now)
        if (due.length < batch) return yield* store.nextDueAt
      }
    })

    const once = Effect.gen(function* () {
      // What changes from now on may be too late for this pass.
      wake.closeUnsafe()
      nextAt = yield* fireDue
      const pause = nextAt === null ? napMs : Math.min(nextAt - (yield* Clock.currentTimeMillis), napMs)
      if (pause > 0) yield* Effect.timeoutOption(wake.await, pause)
    })

    yield* forkLasting({ name: "The scheduler" }, once)
  })
)

/** Fires due schedules and tells of it. */
const makeFire = Effect.gen(function* () {
  const ticks = yield* TickStore
  const untold = yield* Untold
  const tickOf = yield* makeTickOf
  const lease = yield* NodeLease
  const slots = yield* Slots
  const claimer = yield* Claimer
  const feed = yield* Feed

  return Effect.fnUntraced(function* (due: ReadonlyArray<Schedule>, now: Timestamp) {
    // Nobody's schedule keeps those of the others from firing.
    const wanted = yield* Effect.forEach(due, (schedule) =>
      Effect.catchDefect(tickOf(schedule, now), (defect) =>
        Effect.as(Effect.logError(`Schedule ${schedule.schedule_id} cannot be read`, defect), putOff(schedule, now))
      )
    )
    // The events are as old as the question what is due, which may have taken its time.
    const moved = new Set(yield* untold.during(ticks.fire(wanted), now))
    const events = wanted.flatMap(({ schedule, fired }) =>
      fired !== null && moved.has(schedule.schedule_id) ? [fired.event] : []
    )
    if (events.length === 0) return
    for (const envId of new Set(events.map((event) => event.env_id))) claimer.claim(slots.waits(envId))
    yield* feed.tell([{ type: "deliveries:waiting", node_id: lease.nodeId }])
    yield* feed.publish(
      events.flatMap(({ env_id, stream_id, event_id, event_type }) => [
        { type: "stream:created", env_id, stream_id },
        { type: "event:created", env_id, stream_id, event_id, event_type }
      ])
    )
  }, Effect.uninterruptible)
})

const putOff = (schedule: Schedule, now: Timestamp): Tick => ({
  schedule,
  next: { next_at: schedule.next_at, due_at: addMillis(now, putOffMs) },
  fired: null
})

/** What is to become of a due schedule. */
const makeTickOf = Effect.gen(function* () {
  const matchOf = yield* makeMatchOf
  const quotas = yield* Quotas
  const conditions = yield* makeConditions
  const fresh = yield* freshIds

  return Effect.fnUntraced(function* (schedule: Schedule, now: Timestamp): Effect.fn.Return<Tick, StoreUnavailable> {
    const { fires, next_at } = dueTick(schedule, now)
    const next = next_at === null ? null : { next_at, due_at: next_at }
    const passed = { schedule, next, fired: null }
    const told = `The tick of schedule ${schedule.schedule_id} at ${iso(fires ?? schedule.next_at)}`
    if (fires === null) {
      yield* Effect.logInfo(`${told} was missed by more than an hour and does not fire`)
      return passed
    }
    const match = yield* matchOf(schedule)
    if (match === null) {
      yield* Effect.logInfo(`${told} does not fire: ${schedule.ns}/${schedule.var} is not deployed`)
      return passed
    }
    const mayRun = yield* Effect.as(quotas.admit(schedule.env_id, 1), true).pipe(
      Effect.catchTags({ PlanRequired: () => Effect.succeed(false), NotFound: () => Effect.succeed(false) })
    )
    if (!mayRun) return putOff(schedule, now)
    const event: Event = {
      event_id: yield* fresh(EventId),
      env_id: schedule.env_id,
      stream_id: yield* fresh(StreamId),
      event_type: "svc:schedule",
      event_data: tickData(schedule, fires),
      event_time: fires,
      created_at: now
    }
    const group = yield* conditions.group(event, match)
    const delivery = newDelivery(event, match, yield* fresh(DeliveryId), null, group)
    return { schedule, next, fired: { event, delivery } }
  })
})

/** The function of a schedule in the build that serves its project now; null when that has none of the name. */
const makeMatchOf = Effect.gen(function* () {
  const deployments = yield* Deployments
  const builds = yield* BuildStore

  return Effect.fnUntraced(function* (schedule: Schedule): Effect.fn.Return<Match | null, StoreUnavailable> {
    const { env_id, project_id, ns } = schedule
    const found = (yield* deployments.of(env_id))
      .functions(`${ns}/${schedule.var}`)
      .find(({ build }) => build.project_id === project_id)
    if (found !== undefined) return { ...found, run_type: "schedule" }
    // The schedule may be there before the news of the deployment that has its function.
    const serving = (yield* builds.deployments(env_id)).find(({ build }) => build.project_id === project_id)
    const handler = serving?.manifest.functions.find((fn) => fn.ns === ns && fn.var === schedule.var)
    return serving === undefined || handler === undefined
      ? null
      : { build: serving.build, handler, run_type: "schedule" }
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
