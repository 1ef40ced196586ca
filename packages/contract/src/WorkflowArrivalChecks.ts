/** Contract of events that runs wait for: `arrive`, `awaited` and `eventsSince`. */
import { assert } from "@effect/vitest"
import {
  type AwaitedEvents,
  type Event,
  type EventId,
  type ExaminedEvents,
  formatEvent,
  formatOutcome,
  isTooLargeOutcome,
  JournalStore,
  JsonText,
  parkedAt,
  WorkflowStore
} from "@weft/core/adapter"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import { claimAll } from "./Claims.ts"
import { at, deliveryId, envId, event, eventId, hostileText, nodeId, runId, runIds, waiting } from "./Samples.ts"
import {
  active,
  advanced,
  arrive,
  awaitPaid,
  commit,
  history,
  load,
  paid,
  settledWith,
  sleep,
  started,
  step,
  suspension,
  type WorkflowStores
} from "./WorkflowSamples.ts"

const outcomes = (n: number, env = 1) =>
  Effect.map(load(n, env), (loaded) => loaded.history.waits.map(({ outcome }) => outcome))

const ids = (...numbers: ReadonlyArray<number>) => numbers.map(runId)

const claimedAt = (now: number) =>
  Effect.map(claimAll(at(now), { runIds: runIds(100_000, 100) }), ({ claims }) =>
    claims.map(({ run }) => run.run_id).sort()
  )

const matching: ReadonlyArray<Check<WorkflowStores>> = [
  check("gives an event to the waits of its type and environment", function* () {
    yield* commit(started(1), started(2), started(3, nodeId(1), { env_id: envId(2) }), started(4))
    yield* commit(
      advanced(1, { waits: [awaitPaid(0), sleep(1, 10), awaitPaid(2)] }),
      advanced(2, { waits: [awaitPaid(0, null, { event_type: "other" })] }),
      advanced(3, { waits: [awaitPaid(0)] }, { env_id: envId(2) }),
      advanced(4, { waits: [awaitPaid(7)] })
    )
    const arrived = paid(50, { amount: 3 })
    assert.deepStrictEqual(yield* arrive(arrived), ids(1, 4))
    const given = formatEvent(arrived)
    assert.deepStrictEqual(yield* outcomes(1), [given, null, given])
    assert.deepStrictEqual(yield* outcomes(2), [null])
    assert.deepStrictEqual(yield* outcomes(3, 2), [null])
    assert.deepStrictEqual(yield* outcomes(4), [given])
    assert.deepStrictEqual(yield* arrive(paid(51)), [])
    assert.deepStrictEqual(yield* outcomes(4), [given])
  }),

  check("gives an event only to waits with its time", function* () {
    yield* commit(...[1, 2, 3, 4, 5].map((n) => started(n)))
    const since = (from: number, until: number | null) =>
      awaitPaid(0, null, { since: at(from), until: until === null ? null : at(until) })
    yield* commit(
      advanced(1, { waits: [since(50, 50)] }),
      advanced(2, { waits: [since(51, null)] }),
      advanced(3, { waits: [since(0, 49)] }),
      advanced(4, { waits: [since(50, null)] }),
      advanced(5, { waits: [since(0, 60)] })
    )
    assert.deepStrictEqual(yield* arrive(paid(50)), ids(1, 4, 5))
  }),

  check("gives an event to waits whose pairs all have its values", function* () {
    const longPath = "p".repeat(500)
    const longText = "🧵".repeat(150)
    const data = {
      order: { id: 7, tags: ["a", "b"], "": 1 },
      text: longText,
      [longPath]: 1,
      none: null,
      flag: false,
      hostile: hostileText
    }
    const matches: ReadonlyArray<readonly [match: object | null, isMatch: boolean]> = [
      [null, true],
      [{ "order.id": 7 }, true],
      [{ "order.id": 8 }, false],
      [{ "order.id": "7" }, false],
      [{ "order.id": 7, flag: false }, true],
      [{ "order.id": 7, flag: true }, false],
      [{ "order.tags": ["a", "b"] }, true],
      [{ "order.tags": ["b", "a"] }, false],
      [{ none: null }, true],
      [{ missing: null }, false],
      [{ text: longText }, true],
      [{ text: `${longText}🧵` }, false],
      [{ [longPath]: 1 }, true],
      [{ [longPath]: 2 }, false],
      [{ [longPath]: 1, "order.id": 7 }, true],
      [{ hostile: hostileText }, true],
      [{ "order.id.deeper": 7 }, false],
      [{ "a\u0000b": 1 }, false]
    ]
    yield* commit(...matches.map((_, index) => started(index + 1)))
    yield* commit(...matches.map(([match], index) => advanced(index + 1, { waits: [awaitPaid(0, match)] })))
    assert.deepStrictEqual(
      yield* arrive(paid(50, data)),
      ids(...matches.flatMap(([, isMatch], index) => (isMatch ? [index + 1] : [])))
    )
    assert.deepStrictEqual(yield* arrive(paid(51, "not an object")), [])
  }),

  check("gives a deep, a wide and a long value to no wait that requires another one", function* () {
    const deep = `${"[".repeat(50_000)}1${"]".repeat(50_000)}`
    const wide = JSON.stringify(
      Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`name ${index}`, index]))
    )
    const event_data = JsonText.make(`{"deep":${deep},"wide":${wide},"long":"${"x".repeat(100_000)}","id":7}`)
    const matches = [{ deep: [1] }, { wide: {} }, { long: "x".repeat(1_000) }, { id: 7 }, { id: 7, deep: [] }]
    yield* commit(...matches.map((_, index) => started(index + 1)))
    yield* commit(...matches.map((match, index) => advanced(index + 1, { waits: [awaitPaid(0, match)] })))
    assert.deepStrictEqual(yield* arrive(paid(50, {}, { event_data })), ids(4))
  }),

  check("stores no copies of a large event in its waits", function* () {
    yield* commit(started(1), advanced(1, { waits: [awaitPaid(0)] }))
    assert.deepStrictEqual(yield* arrive(paid(50, { text: "x".repeat(300_000) })), ids(1))
    const [outcome] = yield* outcomes(1)
    assert.isBelow(outcome?.length ?? 0, 1_000)
    assert.isTrue(isTooLargeOutcome(outcome ?? null))
  }),

  check("gives an event to waits at many different paths", function* () {
    const runs = Array.from({ length: 260 }, (_, index) => index + 1)
    yield* commit(...runs.map((n) => started(n)))
    yield* commit(...runs.map((n) => advanced(n, { waits: [awaitPaid(0, { [`path${n}`]: n })] })))
    const data = { path1: 1, path2: 9, path130: 130, path260: 260 }
    assert.deepStrictEqual(yield* arrive(paid(5000, data)), ids(1, 130, 260))
  }),

  check("gives an event to a thousand waits, some with another second pair", function* () {
    const runs = Array.from({ length: 1100 }, (_, index) => index + 1)
    yield* commit(...runs.map((n) => started(n)))
    yield* commit(
      ...runs.map((n) => {
        const waits = [awaitPaid(0, { a: 1, b: n % 11 }), awaitPaid(1, { a: 1 }, { until: at(0) })]
        return advanced(n, { waits, suspension: suspension(9000) })
      })
    )
    const found = yield* arrive(paid(5000, { a: 1, b: 3 }))
    assert.deepStrictEqual(found, ids(...runs.filter((n) => n % 11 === 3)))
    const { claims } = yield* claimAll(at(200), { runIds: runIds(100_000, 1000) })
    assert.strictEqual(claims.length, 100)
  }),

  check("gives no event to ended runs", function* () {
    yield* commit(started(1), started(2))
    yield* commit(advanced(1, { waits: [awaitPaid(0)] }), advanced(2, { waits: [awaitPaid(0)] }))
    yield* commit(settledWith(active(1).run, deliveryId(1)))
    assert.deepStrictEqual(yield* arrive(paid(50)), ids(2))
  })
]

const waking: ReadonlyArray<Check<WorkflowStores>> = [
  check("makes a suspended run due, and no earlier than it was", function* () {
    yield* commit(started(1), started(2), started(3))
    yield* commit(
      advanced(1, { waits: [awaitPaid(0)], suspension: suspension(9000) }),
      advanced(2, { waits: [awaitPaid(0)], suspension: suspension(150) }),
      advanced(3, { waits: [awaitPaid(0, { no: 1 })], suspension: suspension(9000) })
    )
    assert.deepStrictEqual(yield* arrive(paid(50), 200), ids(1, 2))
    const { claims, next_due_at } = yield* claimAll(at(200), { runIds: runIds(800, 9) })
    assert.deepStrictEqual(
      claims.map(({ run, delivery }) => [run.run_id, delivery.due_at]),
      [
        [runId(2), at(150)],
        [runId(1), at(200)]
      ]
    )
    assert.strictEqual(next_due_at, at(9000))
  }),

  check("leaves a parked delivery parked", function* () {
    const group = { key: "g", limit: 1 }
    yield* commit(started(1, nodeId(1), {}, { group }), started(2, nodeId(1), {}, { group: { key: "g", limit: 9 } }))
    yield* commit(advanced(1, { waits: [awaitPaid(0)], suspension: suspension(10) }))
    assert.strictEqual((yield* claimAll(at(100), { runIds: runIds(800, 9) })).parked, 1)
    assert.deepStrictEqual(yield* arrive(paid(50)), ids(1))
    assert.deepStrictEqual(yield* claimedAt(parkedAt - at(0) - 1), [])
    const freed = { env_id: envId(1), key: "g" }
    yield* commit(settledWith(active(2).run, deliveryId(2)))
    assert.strictEqual(yield* JournalStore.use((journal) => journal.unpark([freed], at(300))), 1)
    assert.deepStrictEqual(yield* claimedAt(300), ids(1))
  }),

  check("a run that is suspended after the event arrived is due at once", function* () {
    yield* commit(started(1), started(2), started(3))
    const waits = [awaitPaid(0), sleep(1, 9000)]
    yield* commit(...[1, 2, 3].map((n) => advanced(n, { waits })))
    assert.deepStrictEqual(yield* arrive(paid(50)), ids(1, 2, 3))
    const suspended = suspension(9000)
    yield* commit(
      advanced(1, { at: at(300), suspension: suspended }),
      // The function has received this event.
      advanced(2, { at: at(300), steps: [step(0)], suspension: suspended })
    )
    yield* commit(advanced(3, { steps: [step(0)] }))
    yield* commit(advanced(3, { at: at(300), suspension: suspended }))
    assert.deepStrictEqual(yield* claimedAt(299), [])
    assert.deepStrictEqual(yield* claimedAt(300), ids(1))
  }),

  check("a wait that is written again keeps its event", function* () {
    yield* commit(started(1), advanced(1, { waits: [awaitPaid(0)] }))
    yield* arrive(paid(50))
    assert.deepStrictEqual(yield* commit(advanced(1, { waits: [awaitPaid(0)] })), [true])
    assert.deepStrictEqual(yield* outcomes(1), [formatEvent(paid(50))])
    yield* commit(advanced(1, { waits: [awaitPaid(0)], suspension: suspension(9000) }))
    assert.deepStrictEqual(yield* claimedAt(100), ids(1))
  }),

  check("of forty concurrent events, a wait takes one", function* () {
    yield* commit(started(1), advanced(1, { waits: [awaitPaid(0)], suspension: suspension(9000) }))
    const events = Array.from({ length: 40 }, (_, index) => paid(50 + index))
    const found = yield* Effect.forEach(events, (each) => arrive(each), { concurrency: "unbounded" })
    const taken = events.filter((_, index) => (found[index]?.length ?? 0) > 0)
    assert.strictEqual(taken.length, 1)
    assert.deepStrictEqual(yield* outcomes(1), taken.map(formatEvent))
    assert.deepStrictEqual(yield* claimedAt(200), ids(1))
  }),

  check("concurrent events for the same runs do not block each other", function* () {
    const runs = Array.from({ length: 30 }, (_, index) => index + 1)
    const waits = [0, 1, 2, 3].map((seq) => awaitPaid(seq, null, { event_type: `type ${seq % 2}` }))
    yield* commit(...runs.map((n) => started(n)))
    yield* commit(...runs.map((n) => advanced(n, { waits, suspension: suspension(9000) })))
    const events = Array.from({ length: 16 }, (_, index) => paid(50 + index, {}, { event_type: `type ${index % 2}` }))
    const found = yield* Effect.forEach(events, (each) => arrive(each), { concurrency: "unbounded" })
    assert.strictEqual(found.flat().length, 2 * runs.length)
    assert.deepStrictEqual(yield* claimedAt(200), ids(...runs))
  }),

  check("an event that arrives while runs are suspended is not lost", function* () {
    const runs = Array.from({ length: 40 }, (_, index) => index + 1)
    yield* commit(...runs.map((n) => started(n)))
    yield* commit(...runs.map((n) => advanced(n, { waits: [awaitPaid(0, { n })] })))
    const work: ReadonlyArray<Effect.Effect<unknown, unknown, WorkflowStores>> = runs.flatMap((n) => [
      commit(advanced(n, { suspension: suspension(9000) })),
      arrive(paid(50 + n, { n }))
    ])
    yield* Effect.all(work, { concurrency: "unbounded" })
    assert.deepStrictEqual(yield* claimedAt(200), ids(...runs))
    for (const n of runs) assert.isNotNull((yield* history(n)).waits[0]?.outcome)
  })
]

const sortAwaited = Effect.map(
  Effect.flatMap(WorkflowStore, (store) => store.awaited),
  (awaited) => awaited.map(({ env_id, event_type, since }) => [env_id, event_type, since].join(" ")).sort()
)

const expected = (...awaited: ReadonlyArray<readonly [env: number, type: string, since: number]>) =>
  awaited.map(([env, type, since]) => [envId(env), type, at(since)].join(" ")).sort()

const isAwaiting = Effect.map(
  JournalStore.use((journal) => journal.findPendingWork(nodeId(1), at(0))),
  ({ awaiting }) => awaiting
)

/** Returns the first `limit` events after an id, read in pages of two. */
const listSince = (awaited: AwaitedEvents, limit: number, start: EventId | null = null) =>
  Effect.gen(function* () {
    const store = yield* WorkflowStore
    const events: Array<Event> = []
    let after = start
    do {
      const page: ExaminedEvents = yield* store.eventsSince(awaited, after, 2)
      assert.isAtMost(page.events.length, 2)
      events.push(...page.events)
      after = page.next
    } while (after !== null && events.length < limit)
    return events.slice(0, limit)
  })

const listing: ReadonlyArray<Check<WorkflowStores>> = [
  check("lists awaited types with the time of their oldest wait", function* () {
    assert.deepStrictEqual([yield* sortAwaited, yield* isAwaiting], [[], false])
    yield* commit(started(1), started(2), started(3, nodeId(1), { env_id: envId(2) }), started(4))
    yield* commit(advanced(4, { waits: [sleep(0, 10)] }))
    assert.deepStrictEqual([yield* sortAwaited, yield* isAwaiting], [[], false])
    const of = (seq: number, type: string, since: number) =>
      awaitPaid(seq, null, { event_type: type, since: at(since) })
    yield* commit(
      advanced(1, { waits: [of(0, "paid", 30), of(1, hostileText, 5)] }),
      advanced(2, { waits: [of(0, "paid", 10)], suspension: suspension(9000) }),
      advanced(3, { waits: [of(0, "paid", 40)] }, { env_id: envId(2) })
    )
    assert.isTrue(yield* isAwaiting)
    assert.deepStrictEqual(yield* sortAwaited, expected([1, "paid", 10], [1, hostileText, 5], [2, "paid", 40]))
    yield* arrive(paid(50, {}, { created_at: at(20) }))
    assert.deepStrictEqual(yield* sortAwaited, expected([1, "paid", 30], [1, hostileText, 5], [2, "paid", 40]))
    yield* commit(settledWith(active(1).run, deliveryId(1)))
    assert.deepStrictEqual(yield* sortAwaited, expected([2, "paid", 40]))
    const { run } = active(3)
    yield* commit(settledWith({ ...run, env_id: envId(2) }, deliveryId(3)))
    assert.deepStrictEqual([yield* sortAwaited, yield* isAwaiting], [[], false])
  }),

  check("lists thousands of waits of many types", function* () {
    const runs = Array.from({ length: 30 }, (_, index) => index + 1)
    yield* commit(...runs.map((n) => started(n)))
    for (const n of runs) {
      const waits = Array.from({ length: 80 }, (_, seq) =>
        awaitPaid(seq, null, { event_type: seq < 60 ? "common" : `type ${seq}`, since: at(n + seq) })
      )
      yield* commit(advanced(n, { waits }))
    }
    const rare = Array.from({ length: 20 }, (_, index) => [1, `type ${60 + index}`, 61 + index] as const)
    assert.deepStrictEqual(yield* sortAwaited, expected([1, "common", 1], ...rare))
  }),

  check("lists events of a type since a time, in order, up to a limit", function* () {
    const publish = (...events: ReadonlyArray<Event>) =>
      commit(...events.map((each) => ({ _tag: "Appended", event: each, deliveries: [] }) as const))
    yield* publish(
      ...[3, 1, 2, 5, 4].map((n) => paid(n, { n }, { created_at: at(n) })),
      event(6, { event_type: "other" }),
      paid(7, {}, { env_id: envId(2), created_at: at(7) })
    )
    yield* commit(waiting(8))
    const list = (since: number, limit: number, env = 1, event_type = "paid", after: EventId | null = null) =>
      Effect.map(listSince({ env_id: envId(env), event_type, since: at(since) }, limit, after), (events) =>
        events.map(({ event_id }) => event_id)
      )
    assert.deepStrictEqual(yield* list(0, 10), [1, 2, 3, 4, 5].map(eventId))
    assert.deepStrictEqual(yield* list(3, 10), [3, 4, 5].map(eventId))
    assert.deepStrictEqual(yield* list(2, 2), [2, 3].map(eventId))
    assert.deepStrictEqual(yield* list(0, 10, 2), [eventId(7)])
    assert.deepStrictEqual(yield* list(0, 10, 1, "unknown"), [])
    assert.deepStrictEqual(yield* list(0, 2, 1, "paid", eventId(2)), [eventId(3), eventId(4)])
    assert.deepStrictEqual(yield* list(4, 10, 1, "paid", eventId(2)), [eventId(4), eventId(5)])
    assert.deepStrictEqual(yield* list(0, 10, 1, "paid", eventId(5)), [])
    const [first] = yield* listSince({ env_id: envId(1), event_type: "paid", since: at(5) }, 1)
    assert.deepStrictEqual(first, paid(5, { n: 5 }, { created_at: at(5) }))
  }),

  check("finds events among thousands of others", function* () {
    const others = Array.from({ length: 5_500 }, (_, index) => event(index + 10, { created_at: at(1) }))
    const events = [paid(1), ...others, paid(9_000), paid(9_001)]
    for (let from = 0; from < events.length; from += 1000) {
      yield* commit(
        ...events.slice(from, from + 1000).map((each) => ({ _tag: "Appended", event: each, deliveries: [] }) as const)
      )
    }
    const found = yield* listSince({ env_id: envId(1), event_type: "paid", since: at(0) }, 2)
    assert.deepStrictEqual(found, [paid(1), paid(9_000)])
    const all = yield* listSince({ env_id: envId(1), event_type: "paid", since: at(0) }, 3)
    assert.deepStrictEqual(all, [paid(1), paid(9_000), paid(9_001)])
  }),

  check("lists the waits of a run that have received their event", function* () {
    yield* commit(started(1), started(2))
    const waits = [awaitPaid(0, { a: 1 }), sleep(1, 10), awaitPaid(2)]
    yield* commit(advanced(1, { waits }), advanced(2, { waits }))
    const event = paid(50, { a: 2 })
    const arrived = (n: number, env = 1) =>
      WorkflowStore.use((store) => store.arrived({ env_id: envId(env), run_id: runId(n) }))
    assert.deepStrictEqual(yield* arrived(1), [])
    yield* arrive(event)
    assert.deepStrictEqual(yield* arrived(1), [awaitPaid(2, null, { outcome: formatOutcome(event) })])
    assert.deepStrictEqual(yield* arrived(1, 2), [])
  })
]

export const arrivalChecks: ReadonlyArray<Check<WorkflowStores>> = [...matching, ...waking, ...listing]
