/** Contract of `PauseStore` together with the journal and the schedules of the same database. Adapters run this suite. */
import { assert } from "@effect/vitest"
import {
  type AdmissionStore,
  type DeliveryId,
  DeliveryStore,
  explainDelivery,
  JournalStore,
  type Pause,
  PauseId,
  PauseStore,
  pausedAt,
  ScheduleStore,
  versionOf
} from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { type Check, check, suite } from "./Check.ts"
import { claimAll, claimRequest, type JournalStores } from "./Claims.ts"
import {
  at,
  claimedOnInsert,
  deliveryId,
  ended,
  envId,
  eventId,
  everything,
  nodeId,
  projectId,
  run,
  runId,
  settled,
  streamId,
  waiting
} from "./Samples.ts"
import { schedule, scheduleId, store as storeSchedules } from "./ScheduleSamples.ts"

type Stores = PauseStore | DeliveryStore | ScheduleStore | AdmissionStore | JournalStores

export const pauseStoreContract = <E>(adapter: string, layer: Layer.Layer<Stores, E>): void =>
  suite(`PauseStore contract: ${adapter}`, pauseStoreChecks, layer)

/** A pause of environment 1. */
const pause = (n: number, fields: Partial<Pause> = {}): Pause => ({
  pause_id: PauseId.make(`01977420-00ff-7000-8000-${n.toString(16).padStart(12, "0")}`),
  env_id: envId(1),
  project_id: null,
  project_name: null,
  ns: null,
  var: null,
  schedules: "late",
  paused_at: at(n),
  paused_by: "host",
  resumed_at: null,
  changed_at: at(n),
  ...fields
})

const project = { project_id: projectId(1), project_name: "shop" }
const onOrder = { ...project, ns: "main", var: "onOrder" }

const store = <A, E, R>(use: (store: PauseStore["Service"]) => Effect.Effect<A, E, R>) => PauseStore.use(use)
const begin = (one: Pause) => store((pauses) => pauses.pause(one))
const end = ({ env_id, pause_id }: Pause, millis: number) =>
  store((pauses) => pauses.resume(env_id, pause_id, at(millis)))
const release = (after: DeliveryId | null, limit: number, now: number) =>
  store((pauses) => pauses.release(envId(1), after, limit, at(now)))

const commit = (...entries: Parameters<JournalStore["Service"]["commit"]>[0]) =>
  JournalStore.use((journal) => journal.commit(entries, null))

/** Returns the ids of the claimed deliveries, and the rest of the result. */
const claim = (now: number, paused: ReadonlyArray<Pause>) =>
  Effect.map(claimAll(at(now), { paused, runIds: claimRequest(at(now)).runIds.slice(now, now + 100) }), (result) => ({
    ...result,
    claims: result.claims.map(({ delivery }) => delivery.delivery_id)
  }))

const listed = Effect.map(
  DeliveryStore.use((deliveries) => deliveries.list(envId(1), everything, {})),
  (items) => items.map(({ delivery_id, due_at }) => [delivery_id, due_at])
)

const holding: ReadonlyArray<Check<Stores>> = [
  check("a claim holds the due deliveries of a paused function and claims the others", function* () {
    yield* commit(waiting(1), waiting(2, {}, { var: "other" }), waiting(3), waiting(4, { env_id: envId(2) }))
    const one = yield* begin(pause(1, onOrder))
    const first = yield* claim(20, [one])
    assert.deepStrictEqual(first, {
      ...{ claims: [deliveryId(2), deliveryId(4)], parked: 2, unparked: 0, next_due_at: null }
    })
    assert.deepStrictEqual(yield* listed, [
      [deliveryId(1), pausedAt],
      [deliveryId(3), pausedAt]
    ])
    const [held] = yield* DeliveryStore.use((deliveries) => deliveries.list(envId(1), everything, {}))
    assert.isDefined(held)
    if (held === undefined) return
    const wait = { reason: "paused", since: at(1), until: null, detail: "host" } as const
    assert.deepStrictEqual(explainDelivery(held, at(30), one), wait)
    assert.strictEqual(explainDelivery(held, at(30)).reason, "slot")
  }),

  check(
    "a pause of a project or an environment holds all its functions, and deliveries that are due later",
    function* () {
      yield* commit(waiting(1, {}, { due_at: at(50) }), waiting(2, {}, { project_id: projectId(2), project_name: "b" }))
      const one = yield* begin(pause(1, project))
      assert.deepStrictEqual((yield* claim(20, [one])).claims, [deliveryId(2)])
      assert.deepStrictEqual(yield* listed, [[deliveryId(1), at(50)]])
      assert.strictEqual((yield* claim(60, [one])).parked, 1)
      yield* commit(waiting(3, {}, { project_id: projectId(2), project_name: "b", due_at: at(70) }))
      const all = yield* begin(pause(2))
      assert.deepStrictEqual((yield* claim(80, [one, all])).claims, [])
      assert.strictEqual((yield* listed).filter(([, due]) => due === pausedAt).length, 2)
    }
  ),

  check("a claim with an outdated copy of the pauses holds nothing", function* () {
    yield* commit(waiting(1))
    const one = yield* begin(pause(1))
    yield* end(one, 10)
    assert.deepStrictEqual((yield* claim(20, [one])).claims, [deliveryId(1)])
  }),

  check("holds no delivery that continues a durable run, and none that a caller started by hand", function* () {
    yield* commit(
      waiting(1, {}, { durable: true, continues: runId(1) }),
      waiting(2, {}, { run_type: "run" }),
      waiting(3)
    )
    const one = yield* begin(pause(1))
    const { claims, parked } = yield* claim(20, [one])
    assert.deepStrictEqual([claims, parked], [[deliveryId(2)], 1])
    yield* end(one, 30)
    yield* release(null, 10, 40)
    assert.isEmpty((yield* listed).filter(([, due]) => due === pausedAt))
  })
]

const releasing: ReadonlyArray<Check<Stores>> = [
  check("releases held deliveries in bounded steps, but those of other pauses", function* () {
    yield* commit(waiting(1), waiting(2, {}, { var: "other" }), waiting(3), waiting(4))
    const whole = yield* begin(pause(1))
    const one = yield* begin(pause(2, { ...onOrder, var: "other" }))
    yield* claim(20, [whole, one])
    yield* end(whole, 30)
    assert.deepStrictEqual(yield* release(null, 2, 40), { released: 1, next: deliveryId(2) })
    assert.deepStrictEqual(yield* release(deliveryId(2), 3, 50), { released: 2, next: null })
    assert.deepStrictEqual((yield* claim(60, [one])).claims, [deliveryId(1), deliveryId(3), deliveryId(4)])
    assert.deepStrictEqual(yield* listed, [[deliveryId(2), pausedAt]])
    const journal = yield* JournalStore
    assert.deepInclude(yield* journal.findPendingWork(nodeId(1), at(70)), { parked: false, next_due_at: null })
  }),

  check("the end of a pause makes its postponed ticks due", function* () {
    const postponed = { due_at: at(9000) }
    yield* storeSchedules(
      schedule(1, postponed),
      schedule(2, { next_at: at(5000) }),
      schedule(3, { env_id: envId(2), ...postponed })
    )
    const one = yield* begin(pause(1))
    yield* end(one, 2000)
    const due = (millis: number) =>
      Effect.map(
        ScheduleStore.use((schedules) => schedules.due(at(millis), 10)),
        (found) => found.map(({ schedule_id, due_at }) => [schedule_id, due_at])
      )
    assert.deepStrictEqual(yield* due(2000), [[scheduleId(1), at(2000)]])
    assert.deepStrictEqual(yield* due(8000), [
      [scheduleId(1), at(2000)],
      [scheduleId(2), at(5000)]
    ])
  })
]

const records: ReadonlyArray<Check<Stores>> = [
  check("pauses a target once, changes its option, and pauses it again after the end", function* () {
    const one = yield* begin(pause(1, onOrder))
    assert.deepStrictEqual(one, pause(1, onOrder))
    const again = yield* begin(pause(2, { ...onOrder, schedules: "skip" }))
    assert.deepStrictEqual(again, { ...one, schedules: "skip", changed_at: at(2) })
    yield* begin(pause(3, { env_id: envId(2) }))
    const active = (env: number) => store((pauses) => pauses.active(envId(env)))
    assert.deepStrictEqual(yield* active(1), [again])
    const ended = yield* end(one, 20)
    assert.deepStrictEqual(ended, { ...again, resumed_at: at(20), changed_at: at(20) })
    assert.deepStrictEqual(yield* active(1), [])
    const later = yield* begin(pause(4, onOrder))
    assert.deepStrictEqual(yield* active(1), [later])
  }),

  check("ends no pause twice, of another environment or of an unknown id", function* () {
    const one = yield* begin(pause(1))
    for (const unknown of [pause(9), pause(1, { env_id: envId(2) })])
      assert.strictEqual((yield* Effect.flip(end(unknown, 10)))._tag, "NotFound")
    yield* end(one, 10)
    assert.strictEqual((yield* Effect.flip(end(one, 20)))._tag, "NotFound")
  }),

  check("counts the runs of a pause that have not ended", function* () {
    const one = yield* begin(pause(1, onOrder))
    const count = (of: Pause) => store((pauses) => pauses.countRuns(of))
    assert.deepStrictEqual(yield* count(one), { executing: 0, suspended: 0 })
    yield* commit(claimedOnInsert(1), claimedOnInsert(2), claimedOnInsert(3, 1, { env_id: envId(2) }))
    yield* commit(settled(2, ended(run(2, { event_id: eventId(2), run_type: "event", stream_id: streamId(2) }))))
    assert.deepStrictEqual(yield* count(one), { executing: 1, suspended: 0 })
    assert.deepStrictEqual(yield* count(pause(2)), { executing: 1, suspended: 0 })
    assert.deepStrictEqual(yield* count(pause(2, { ...onOrder, var: "other" })), { executing: 0, suspended: 0 })
  }),

  check("forgets ended pauses only, and reports each change as a version", function* () {
    const journal = yield* JournalStore
    const version = Effect.map(journal.findPendingWork(nodeId(1), at(100)), ({ pauses_version }) => pauses_version)
    const all = store((pauses) => pauses.all)
    const forget = (one: Pause) => store((pauses) => pauses.forget(one.env_id, one.pause_id))
    assert.strictEqual(yield* version, versionOf([]))
    const one = yield* begin(pause(1))
    assert.strictEqual(yield* version, versionOf([one]))
    yield* forget(one)
    assert.deepStrictEqual(yield* all, [one])
    const ended = yield* end(one, 10)
    assert.deepStrictEqual(yield* all, [ended])
    assert.strictEqual(yield* version, versionOf([ended]))
    yield* forget(one)
    assert.deepStrictEqual(yield* all, [])
    assert.strictEqual(yield* version, versionOf([]))
  }),

  check("reports the end of a pause as another version, although the clock of a node is behind", function* () {
    const journal = yield* JournalStore
    const version = Effect.map(journal.findPendingWork(nodeId(1), at(100)), ({ pauses_version }) => pauses_version)
    const one = yield* begin(pause(1))
    yield* begin(pause(2, { ...onOrder, paused_at: at(50), changed_at: at(50) }))
    const before = yield* version
    yield* end(one, 20)
    assert.notStrictEqual(yield* version, before)
  })
]

const pauseStoreChecks: ReadonlyArray<Check<Stores>> = [...holding, ...releasing, ...records]
