/** Contract of `TickStore`. Part of `scheduleStoreChecks`. */
import { assert } from "@effect/vitest"
import {
  type AdmissionStore,
  EventStore,
  JournalStore,
  ScheduleStore,
  TickStore,
  type Timestamp
} from "@weft/core/adapter"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import { claimAll, type JournalStores } from "./Claims.ts"
import { at, deliveryId, envId, eventId, everything, nodeId } from "./Samples.ts"
import { schedule, scheduleId, store, tick } from "./ScheduleSamples.ts"

type Stores = ScheduleStore | TickStore | AdmissionStore | JournalStores

/** Lists the number, `next_at` and `due_at` of every schedule. */
const listNext = Effect.map(
  ScheduleStore.use((schedules) => schedules.due(at(1_000_000), 1000)),
  (all) =>
    all
      .map((one): readonly [string, Timestamp, Timestamp] => [one.schedule_id, one.next_at, one.due_at])
      .sort(([a], [b]) => (a < b ? -1 : 1))
)

const ticked = (env = 1) =>
  Effect.map(
    EventStore.use((events) => events.list(envId(env), everything, ["svc:schedule"])),
    ({ items, total }) => {
      assert.strictEqual(total, items.length)
      return items.map((item) => item.event_id)
    }
  )

const claimed = Effect.map(claimAll(at(1_000_000)), ({ claims }) =>
  claims.map(({ delivery }) => delivery.delivery_id).sort()
)

export const tickChecks: ReadonlyArray<Check<Stores>> = [
  check("a tick advances its schedule, and stores its event and delivery", function* () {
    const ticks = yield* TickStore
    yield* store(schedule(1))
    const fired = tick(schedule(1), 20)
    assert.deepStrictEqual(yield* ticks.fire([fired]), [scheduleId(1)])
    assert.deepStrictEqual(yield* listNext, [[scheduleId(1), at(2000), at(2000)]])
    const { claims } = yield* claimAll(at(1_000_000))
    assert.deepStrictEqual(
      claims.map(({ event, delivery }) => ({ event, delivery })),
      [fired.fired]
    )
    assert.deepStrictEqual(yield* ticked(), [eventId(20)])
  }),

  check("look returns when the next schedule of any environment fires", function* () {
    const ticks = yield* TickStore
    const seen = Effect.map(
      JournalStore.use((journal) => journal.findPendingWork(nodeId(1), at(5000))),
      (sight) => sight.next_tick_at
    )
    yield* store(schedule(1), schedule(2, { env_id: envId(2), next_at: at(700), due_at: at(700) }))
    assert.strictEqual(yield* seen, at(700))
    yield* ticks.fire([tick(schedule(2, { env_id: envId(2), next_at: at(700), due_at: at(700) }), 20, 9000)])
    assert.strictEqual(yield* seen, schedule(1).due_at)
  }),

  check("a tick that is already stored changes nothing", function* () {
    const ticks = yield* TickStore
    yield* store(schedule(1), schedule(2))
    yield* ticks.fire([tick(schedule(1), 20)])
    assert.deepStrictEqual(yield* ticks.fire([tick(schedule(1), 21, 3000), tick(schedule(2), 22)]), [scheduleId(2)])
    assert.deepStrictEqual(yield* listNext, [
      [scheduleId(1), at(2000), at(2000)],
      [scheduleId(2), at(2000), at(2000)]
    ])
    assert.deepStrictEqual(yield* claimed, [deliveryId(20), deliveryId(22)])
    assert.deepStrictEqual(yield* ticked(), [eventId(22), eventId(20)])
  }),

  check("one of many concurrent identical ticks is stored", function* () {
    const ticks = yield* TickStore
    yield* store(schedule(1), schedule(2, { cron: null }))
    const fires = Array.from({ length: 20 }, (_, index) =>
      ticks.fire([tick(schedule(1), 100 + index), tick(schedule(2, { cron: null }), 200 + index, null)])
    )
    const counted = (yield* Effect.all(fires, { concurrency: 20 })).flat()
    assert.deepStrictEqual([...counted].sort(), [scheduleId(1), scheduleId(2)])
    assert.strictEqual((yield* claimed).length, 2)
    assert.strictEqual((yield* ticked()).length, 2)
  }),

  check("the next tick is stored as a separate one", function* () {
    const ticks = yield* TickStore
    yield* store(schedule(1))
    yield* ticks.fire([tick(schedule(1), 20)])
    const later = schedule(1, { next_at: at(2000) })
    assert.deepStrictEqual(yield* ticks.fire([tick(later, 21, 3000)]), [scheduleId(1)])
    assert.deepStrictEqual(yield* claimed, [deliveryId(20), deliveryId(21)])
  }),

  check("a schedule is removed after its last tick", function* () {
    const ticks = yield* TickStore
    const once = schedule(1, { cron: null })
    yield* store(once, schedule(2))
    assert.deepStrictEqual(yield* ticks.fire([tick(once, 20, null)]), [scheduleId(1)])
    assert.deepStrictEqual(yield* listNext, [[scheduleId(2), at(1000), at(1000)]])
    assert.deepStrictEqual(yield* ticks.fire([tick(once, 21, null)]), [])
    assert.deepStrictEqual(yield* claimed, [deliveryId(20)])
  }),

  check("a skipped or postponed tick only changes its schedule", function* () {
    const ticks = yield* TickStore
    yield* store(schedule(1), schedule(2), schedule(3, { cron: null }))
    const none = { fired: null }
    const putOff = { next_at: at(1000), due_at: at(61_000) }
    yield* ticks.fire([
      { ...tick(schedule(1), 1), ...none },
      { ...tick(schedule(2), 2), ...none, next: putOff },
      { ...tick(schedule(3, { cron: null }), 3, null), ...none }
    ])
    assert.deepStrictEqual(yield* listNext, [
      [scheduleId(1), at(2000), at(2000)],
      [scheduleId(2), at(1000), at(61_000)]
    ])
    assert.deepStrictEqual(yield* claimed, [])
    // A postponed tick is not lost: it may fire later.
    const fired = tick(schedule(2, { due_at: at(61_000) }), 20)
    assert.deepStrictEqual(yield* ticks.fire([fired]), [scheduleId(2)])
    assert.deepStrictEqual(yield* claimed, [deliveryId(20)])
  }),

  check("a schedule that was removed meanwhile does not fire", function* () {
    const ticks = yield* TickStore
    const schedules = yield* ScheduleStore
    yield* store(schedule(1), schedule(2, { env_id: envId(2) }))
    yield* schedules.remove(envId(1), scheduleId(1))
    const fired = [tick(schedule(1), 20), tick(schedule(2, { env_id: envId(2) }), 21)]
    assert.deepStrictEqual(yield* ticks.fire(fired), [scheduleId(2)])
    assert.deepStrictEqual(yield* ticked(), [])
    assert.deepStrictEqual(yield* ticked(2), [eventId(21)])
    assert.deepStrictEqual(yield* ticks.fire([]), [])
  }),

  check("many ticks are stored together", function* () {
    const ticks = yield* TickStore
    const numbers = Array.from({ length: 100 }, (_, index) => index + 1)
    yield* store(...numbers.map((n) => schedule(n, { cron: n % 3 === 0 ? null : "* * * * * *" })))
    const fired = numbers.map((n) => tick(schedule(n), 1000 + n, n % 3 === 0 ? null : 2000 + n))
    assert.strictEqual((yield* ticks.fire(fired)).length, 100)
    assert.strictEqual((yield* claimed).length, 100)
    assert.deepStrictEqual(
      yield* listNext,
      numbers.filter((n) => n % 3 !== 0).map((n) => [scheduleId(n), at(2000 + n), at(2000 + n)])
    )
  })
]
