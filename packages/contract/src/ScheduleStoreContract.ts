/**
 * Contract of `ScheduleStore` and `TickStore`, and of changes of schedules by deployments and events. Adapters run this
 * suite; they do not copy it.
 */
import { assert } from "@effect/vitest"
import {
  AdmissionStore,
  type BuildStore,
  type Cancelled,
  EventStore,
  JsonText,
  ProjectStore,
  type Schedule,
  ScheduleStore,
  type TickStore,
  UsageStore
} from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { type Check, check, suite } from "./Check.ts"
import type { JournalStores } from "./Claims.ts"
import { at, bigJson, envId, eventId, everything, hostileText, project, projectId } from "./Samples.ts"
import { changing, created, schedule, scheduleId, store } from "./ScheduleSamples.ts"
import { staticScheduleChecks } from "./StaticScheduleChecks.ts"
import { tickChecks } from "./TickChecks.ts"

export type ScheduleStores = ScheduleStore | TickStore | AdmissionStore | BuildStore | ProjectStore | JournalStores

export const scheduleStoreContract = <E>(adapter: string, layer: Layer.Layer<ScheduleStores, E>) =>
  suite(`ScheduleStore contract: ${adapter}`, scheduleStoreChecks, layer)

const ids = (only?: ReadonlyArray<string>, env = 1) =>
  Effect.map(
    ScheduleStore.use((schedules) => schedules.list(envId(env), everything, only)),
    ({ items, total }) => {
      assert.strictEqual(total, items.length)
      return items.map((item) => item.schedule_id)
    }
  )

const eventCount = (env = 1) =>
  Effect.map(
    EventStore.use((events) => events.list(envId(env), everything)),
    ({ total }) => total
  )

const admit = (...args: Parameters<typeof changing>) =>
  AdmissionStore.use((admissions) => admissions.admit(changing(...args)))

const refused = (refusal: "too many" | "none") => ({ _tag: "Refused", refusal }) as const

const creating: ReadonlyArray<Check<ScheduleStores>> = [
  check("returns a schedule as it was stored, together with its event", function* () {
    const schedules = yield* ScheduleStore
    const odd = schedule(1, {
      args: bigJson,
      ns: hostileText,
      var: hostileText,
      timezone: hostileText,
      due_at: at(9),
      depth: 7
    })
    const once = schedule(2, { cron: null, args: JsonText.make('["\\u0000"]'), next_at: at(-5) })
    assert.deepStrictEqual(yield* admit(1, created(odd)), { _tag: "Stored", deliveries: [] })
    yield* admit(2, created(once))
    assert.deepStrictEqual(yield* schedules.list(envId(1), everything), { items: [once, odd], total: 2 })
    assert.strictEqual(yield* eventCount(), 2)
  }),

  check("enforces the schedule limit of each environment separately", function* () {
    yield* store(schedule(10, { env_id: envId(2) }), schedule(11, { env_id: envId(2) }))
    assert.strictEqual((yield* admit(1, created(schedule(1), 2)))._tag, "Stored")
    assert.strictEqual((yield* admit(2, created(schedule(2), 2)))._tag, "Stored")
    assert.deepStrictEqual(yield* admit(3, created(schedule(3), 2)), refused("too many"))
    assert.deepStrictEqual(yield* ids(), [scheduleId(2), scheduleId(1)])
    assert.strictEqual(yield* eventCount(), 2)
  }),

  check("accepts no more concurrent schedules than the limit", function* () {
    const numbers = Array.from({ length: 10 }, (_, index) => index + 1)
    const admitted = yield* Effect.forEach(numbers, (n) => admit(n, created(schedule(n), 3)), { concurrency: 10 })
    assert.strictEqual(admitted.filter(({ _tag }) => _tag === "Stored").length, 3)
    assert.strictEqual((yield* ids()).length, 3)
    assert.strictEqual(yield* eventCount(), 3)
  }),

  check("creates one schedule for a repeated request, and claims no key for a refused one", function* () {
    const request = { key: "k", digest: "d" }
    assert.deepStrictEqual(yield* admit(1, created(schedule(1), 0), { request }), refused("too many"))
    assert.strictEqual((yield* admit(2, created(schedule(2)), { request }))._tag, "Stored")
    const again = yield* admit(3, created(schedule(3)), { request })
    assert.strictEqual(again._tag === "Earlier" ? again.earlier.event.event_id : again._tag, eventId(2))
    assert.deepStrictEqual(yield* ids(), [scheduleId(2)])
  })
]

const cancel = (n: number, by: Cancelled, env = 1) => admit(n, { _tag: "Cancelled", env_id: envId(env), by })

const cancelling: ReadonlyArray<Check<ScheduleStores>> = [
  check("cancels a schedule by its id once, and only in its own environment", function* () {
    yield* store(schedule(1), schedule(2))
    const by = { schedule_id: scheduleId(1) }
    assert.deepStrictEqual(yield* cancel(3, by, 2), refused("none"))
    assert.strictEqual(yield* eventCount(2), 0)
    assert.strictEqual((yield* cancel(4, by))._tag, "Stored")
    assert.deepStrictEqual(yield* cancel(5, by), refused("none"))
    assert.deepStrictEqual(yield* ids(), [scheduleId(2)])
    assert.strictEqual(yield* eventCount(), 3)
  }),

  check("cancels all schedules of a function, and no others", function* () {
    yield* store(
      schedule(1),
      schedule(2, { cron: null }),
      schedule(3, { var: "other" }),
      schedule(4, { ns: "other" }),
      schedule(5, { project_id: projectId(2) }),
      schedule(6, { env_id: envId(2) })
    )
    const by = { project_id: projectId(1), ns: "main", var: "tick" }
    assert.strictEqual((yield* cancel(10, by))._tag, "Stored")
    assert.deepStrictEqual(yield* ids(), [scheduleId(5), scheduleId(4), scheduleId(3)])
    assert.deepStrictEqual(yield* ids(undefined, 2), [scheduleId(6)])
    assert.deepStrictEqual(yield* cancel(11, by), refused("none"))
  })
]

const reading: ReadonlyArray<Check<ScheduleStores>> = [
  check("lists the schedules of an environment in pages with the total, newest first", function* () {
    const schedules = yield* ScheduleStore
    yield* store(schedule(2), schedule(4), schedule(1), schedule(3), schedule(5, { env_id: envId(2) }))
    const { items, total } = yield* schedules.list(envId(1), { limit: 2, offset: 1 })
    assert.deepStrictEqual([total, ...items.map((item) => item.schedule_id)], [4, scheduleId(3), scheduleId(2)])
  }),

  check("lists the next schedules of an environment by their due times, with the total", function* () {
    const schedules = yield* ScheduleStore
    const due = (n: number, second: number) => schedule(n, { next_at: at(second), due_at: at(second) })
    yield* store(due(1, 30), due(2, 10), due(3, 20), due(4, 10), schedule(5, { env_id: envId(2) }))
    const { items, total } = yield* schedules.upcoming(envId(1), { limit: 2, offset: 1 })
    assert.deepStrictEqual([total, ...items.map((item) => item.schedule_id)], [4, scheduleId(4), scheduleId(3)])
    const other = yield* schedules.upcoming(envId(1), everything, [projectId(2)])
    assert.deepStrictEqual(other, { items: [], total: 0 })
  }),

  check("restricts a list and a removal to ids and names of projects", function* () {
    const schedules = yield* ScheduleStore
    const projects = yield* ProjectStore
    for (const n of [1, 2]) yield* projects.insert(project(n))
    yield* projects.insert(project(3, { env_id: envId(2), name: "project 1" }))
    yield* store(schedule(1), schedule(2, { project_id: projectId(2) }))
    yield* store(schedule(3, { project_id: projectId(3), env_id: envId(2) }))
    assert.deepStrictEqual(yield* ids(["project 1"]), [scheduleId(1)])
    assert.deepStrictEqual(yield* ids([projectId(2), "project 1"]), [scheduleId(2), scheduleId(1)])
    assert.deepStrictEqual(yield* ids([projectId(3)]), [])
    assert.deepStrictEqual(yield* ids([]), [])
    const removal = (only: ReadonlyArray<string>) => schedules.remove(envId(1), scheduleId(2), only)
    assert.strictEqual((yield* Effect.flip(removal(["project 1", projectId(1)]))).message, "There is no such schedule")
    yield* removal(["project 2"])
    assert.deepStrictEqual(yield* ids(), [scheduleId(1)])
  }),

  check("removes a schedule in its own environment only", function* () {
    const schedules = yield* ScheduleStore
    yield* store(schedule(1))
    assert.strictEqual((yield* Effect.flip(schedules.remove(envId(2), scheduleId(1))))._tag, "NotFound")
    yield* schedules.remove(envId(1), scheduleId(1))
    assert.strictEqual((yield* Effect.flip(schedules.remove(envId(1), scheduleId(1))))._tag, "NotFound")
    assert.isNull(yield* schedules.nextDueAt)
  }),

  check("due returns the due schedules of all environments up to the limit, the longest due first", function* () {
    const schedules = yield* ScheduleStore
    assert.isNull(yield* schedules.nextDueAt)
    assert.deepStrictEqual(yield* schedules.due(at(9000), 10), [])
    const late = schedule(1, { next_at: at(1), due_at: at(3000) })
    const others = [schedule(2, { next_at: at(2000) }), schedule(3, { next_at: at(2000), env_id: envId(2) })]
    yield* store(late, ...others, schedule(4, { next_at: at(1000), cron: null }), schedule(5, { next_at: at(3001) }))
    const due = (now: number, limit: number) =>
      Effect.map(schedules.due(at(now), limit), (found) => found.map((one) => one.schedule_id))
    assert.deepStrictEqual(yield* due(3000, 10), [4, 2, 3, 1].map(scheduleId))
    assert.deepStrictEqual(yield* due(2999, 10), [4, 2, 3].map(scheduleId))
    assert.deepStrictEqual(yield* due(9000, 2), [4, 2].map(scheduleId))
    assert.deepStrictEqual(yield* due(999, 10), [])
    assert.deepStrictEqual((yield* schedules.due(at(3000), 10)).at(-1), late)
    assert.strictEqual(yield* schedules.nextDueAt, at(1000))
  }),

  check("due leaves out schedules of excluded environments, and dueOf those of all others", function* () {
    const schedules = yield* ScheduleStore
    const many = Array.from({ length: 30 }, (_, index) => schedule(index + 1, { next_at: at(100 + index) }))
    yield* store(...many, schedule(40, { env_id: envId(2), next_at: at(200) }))
    yield* store(
      schedule(41, { env_id: envId(3), next_at: at(150) }),
      schedule(42, { env_id: envId(3), next_at: at(999) })
    )
    const ids = Effect.map((found: ReadonlyArray<Schedule>) => found.map((one) => one.schedule_id))
    assert.deepStrictEqual(yield* ids(schedules.due(at(300), 9, [envId(1)])), [41, 40].map(scheduleId))
    assert.deepStrictEqual(yield* ids(schedules.due(at(300), 1, [envId(1)])), [scheduleId(41)])
    assert.deepStrictEqual(yield* ids(schedules.due(at(300), 9, [envId(1), envId(2), envId(3)])), [])
    assert.deepStrictEqual(yield* ids(schedules.dueOf(envId(1), at(102), 9)), [1, 2, 3].map(scheduleId))
    assert.deepStrictEqual(yield* ids(schedules.dueOf(envId(1), at(300), 2)), [1, 2].map(scheduleId))
    assert.deepStrictEqual(yield* ids(schedules.dueOf(envId(3), at(300), 9)), [scheduleId(41)])
    assert.deepStrictEqual(yield* ids(schedules.dueOf(envId(4), at(300), 9)), [])
  }),

  check("UsageStore counts the dynamic schedules of an environment, up to a limit", function* () {
    const usage = yield* UsageStore
    assert.strictEqual(yield* usage.dynamicSchedules(envId(1), 10), 0)
    yield* store(schedule(1), schedule(2), schedule(3), schedule(4, { env_id: envId(2) }))
    assert.strictEqual(yield* usage.dynamicSchedules(envId(1), 10), 3)
    assert.strictEqual(yield* usage.dynamicSchedules(envId(1), 2), 2)
    assert.strictEqual(yield* usage.dynamicSchedules(envId(2), 10), 1)
    assert.strictEqual(yield* usage.dynamicSchedules(envId(3), 10), 0)
  })
]

export const scheduleStoreChecks: ReadonlyArray<Check<ScheduleStores>> = [
  ...creating,
  ...cancelling,
  ...reading,
  ...tickChecks,
  ...staticScheduleChecks
]
