/** Contract of several events that `arrive` gives to waits at once, and of large ones that `eventsSince` returns. */
import { assert } from "@effect/vitest"
import { type EventId, type ExaminedEvents, formatEvent, formatOutcome, WorkflowStore } from "@weft/core/adapter"
import { Effect } from "effect"
import { type Check, check } from "./Check.ts"
import { claimAll } from "./Claims.ts"
import { at, envId, eventId, runId, runIds } from "./Samples.ts"
import {
  advanced,
  arrive,
  awaitPaid,
  commit,
  history,
  paid,
  started,
  suspension,
  type WorkflowStores
} from "./WorkflowSamples.ts"

const outcomes = (n: number) => Effect.map(history(n), ({ waits }) => waits.map(({ outcome }) => outcome))

const ids = (...numbers: ReadonlyArray<number>) => numbers.map(runId)

export const arrivalBatchChecks: ReadonlyArray<Check<WorkflowStores>> = [
  check("gives each of several events to the waits that it matches", function* () {
    const runs = Array.from({ length: 60 }, (_, index) => index + 1)
    yield* commit(...runs.map((n) => started(n)))
    yield* commit(...runs.map((n) => advanced(n, { waits: [awaitPaid(0, { n }), awaitPaid(1, { no: n })] })))
    const events = runs.filter((n) => n % 3 !== 0).map((n) => paid(100 + n, { n }))
    assert.deepStrictEqual(yield* arrive(events), ids(...runs.filter((n) => n % 3 !== 0)))
    for (const n of runs) {
      const event = events.find(({ event_id }) => event_id === eventId(100 + n))
      assert.deepStrictEqual(yield* outcomes(n), [event === undefined ? null : formatEvent(event), null])
    }
    assert.deepStrictEqual(yield* arrive([]), [])
  }),

  check("gives a wait the first of several events that it matches", function* () {
    yield* commit(...[1, 2, 3, 4].map((n) => started(n)))
    yield* commit(
      advanced(1, { waits: [awaitPaid(0)] }),
      advanced(2, { waits: [awaitPaid(0, null, { since: at(51) })] }),
      advanced(3, { waits: [awaitPaid(0, { a: 1, b: 2 }), awaitPaid(1, { b: 2 }), awaitPaid(2, { a: 1 })] }),
      advanced(4, { waits: [awaitPaid(0, { a: 7 })], suspension: suspension(9000) })
    )
    const [first, second, third] = [
      paid(50, { a: 1, b: 1 }),
      paid(51, { a: 1, b: 2 }, { created_at: at(51) }),
      paid(52, { a: 1, b: 2 }, { created_at: at(52) })
    ]
    assert.deepStrictEqual(yield* arrive([first, second, third]), ids(1, 2, 3))
    assert.deepStrictEqual(yield* outcomes(1), [formatEvent(first)])
    assert.deepStrictEqual(yield* outcomes(2), [formatEvent(second)])
    assert.deepStrictEqual(yield* outcomes(3), [formatEvent(second), formatEvent(second), formatEvent(first)])
    assert.deepStrictEqual(yield* outcomes(4), [null])
    assert.deepStrictEqual((yield* claimAll(at(300), { runIds: runIds(100_000, 10) })).claims, [])
  }),

  check("gives several events to more waits than one statement reads", function* () {
    const runs = Array.from({ length: 1200 }, (_, index) => index + 1)
    yield* commit(...runs.map((n) => started(n)))
    yield* commit(...runs.map((n) => advanced(n, { waits: [awaitPaid(0, { half: n % 2, third: n % 3 })] })))
    const events = [
      paid(5000, { half: 0, third: 0 }),
      paid(5001, { half: 1, third: 1 }),
      paid(5002, { half: 0, third: 2 })
    ]
    const isWoken = (n: number) => (n % 2 === 0 && n % 3 !== 1) || (n % 2 === 1 && n % 3 === 1)
    assert.deepStrictEqual(yield* arrive(events), ids(...runs.filter(isWoken)))
    assert.deepStrictEqual(yield* outcomes(6), [formatEvent(paid(5000, { half: 0, third: 0 }))])
    assert.deepStrictEqual(yield* outcomes(7), [formatEvent(paid(5001, { half: 1, third: 1 }))])
    assert.deepStrictEqual(yield* outcomes(8), [formatEvent(paid(5002, { half: 0, third: 2 }))])
  }),

  check("gives large events to many waits, each its own", function* () {
    const runs = Array.from({ length: 40 }, (_, index) => index + 1)
    yield* commit(...runs.map((n) => started(n)))
    yield* commit(...runs.map((n) => advanced(n, { waits: [awaitPaid(0, { n })] })))
    const events = runs.map((n) => paid(100 + n, { n, text: `${n}`.repeat(50_000) }))
    assert.deepStrictEqual(yield* arrive(events), ids(...runs))
    for (const [index, event] of events.entries()) {
      assert.deepStrictEqual(yield* outcomes(index + 1), [formatOutcome(event)])
    }
  }),

  check("several events at once, in any order and in any parts, give each wait one of them", function* () {
    const runs = Array.from({ length: 30 }, (_, index) => index + 1)
    yield* commit(...runs.map((n) => started(n)))
    yield* commit(
      ...runs.map((n) => advanced(n, { waits: [awaitPaid(0, { n: n % 5 })], suspension: suspension(9000) }))
    )
    const events = Array.from({ length: 20 }, (_, index) => paid(100 + index, { n: index % 5 }))
    const parts = [events.slice(0, 15), events.slice(5), [...events].reverse()]
    const found = yield* Effect.forEach(parts, (part) => arrive(part), { concurrency: "unbounded" })
    assert.deepStrictEqual(found.flat().sort(), ids(...runs))
    for (const n of runs) assert.isNotNull((yield* history(n)).waits[0]?.outcome)
  }),

  check("lists fewer events at once if they are large, and misses none", function* () {
    const events = Array.from({ length: 12 }, (_, index) => paid(index + 1, { text: "x".repeat(1024 * 1024) }))
    for (const each of events) yield* commit({ _tag: "Appended", event: each, deliveries: [] })
    const store = yield* WorkflowStore
    const found: Array<EventId> = []
    let after: EventId | null = null
    do {
      const page: ExaminedEvents = yield* store.eventsSince(
        { env_id: envId(1), event_type: "paid", since: at(0) },
        after,
        100
      )
      assert.isAtMost(page.events.length, 4)
      for (const { event_id, event_data } of page.events) {
        assert.isAbove(event_data.length, 1024 * 1024)
        found.push(event_id)
      }
      after = page.next
    } while (after !== null)
    assert.deepStrictEqual(
      found,
      events.map(({ event_id }) => event_id)
    )
  })
]
