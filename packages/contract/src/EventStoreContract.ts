/** Contract of `EventStore`. Adapters run this suite; they do not copy it. */
import { assert } from "@effect/vitest"
import { type Event, EventStore, JournalStore, JsonText, pageBytesMax, StreamId } from "@weft/core/adapter"
import { Effect, type Layer } from "effect"
import { type Check, check, suite } from "./Check.ts"
import { at, bigJson, envId, event, eventId, everything, hostileText } from "./Samples.ts"

export const eventStoreContract = <E>(adapter: string, layer: Layer.Layer<EventStore | JournalStore, E>) =>
  suite(`EventStore contract: ${adapter}`, eventStoreChecks, layer)

const publish = (...events: ReadonlyArray<Event>) =>
  Effect.flatMap(JournalStore, (journal) =>
    journal.commit(
      events.map((published) => ({ _tag: "Appended", event: published, deliveries: [] })),
      null
    )
  )

export const eventStoreChecks: ReadonlyArray<Check<EventStore | JournalStore>> = [
  check("returns an event as it was published", function* () {
    const store = yield* EventStore
    const stored = event(1, {
      stream_id: StreamId.make("0f0e0d0c-0b0a-4908-8706-050403020100"),
      event_type: hostileText,
      event_data: JsonText.make(
        JSON.stringify({ text: hostileText, numbers: [0.1, -1e300, 9007199254740993n.toString()] })
      ),
      event_time: at(-5_000_000_000),
      created_at: at(3)
    })
    yield* publish(stored, event(2))
    assert.deepStrictEqual(yield* store.get(envId(1), eventId(1)), stored)
  }),

  check("keeps the exact text of data: numbers, escapes, order of keys, nulls", function* () {
    const store = yield* EventStore
    const texts = [
      "null",
      "true",
      '""',
      "0",
      "1e400",
      "12345678901234567890",
      '{"b":1,"a":1,"b":2}',
      '"\\ud800 \\u0000"',
      "[]"
    ]
    const events = texts.map((text, n) => event(n, { event_data: JsonText.make(text) }))
    yield* publish(...events)
    for (const stored of events) {
      assert.strictEqual((yield* store.get(envId(1), stored.event_id)).event_data, stored.event_data)
    }
  }),

  check("stores 1 MiB of data", function* () {
    const store = yield* EventStore
    yield* publish(event(1, { event_data: bigJson }), event(2))
    assert.isTrue((yield* store.get(envId(1), eventId(1))).event_data === bigJson)
    assert.deepStrictEqual(yield* store.get(envId(1), eventId(2)), event(2))
  }),

  check("ends a page before the large data that would exceed its size, and lists the rest on the next", function* () {
    const store = yield* EventStore
    const large = JsonText.make(`"${"x".repeat(pageBytesMax / 4)}"`)
    const events = [1, 2, 3, 4, 5].map((n) => event(n, n === 3 ? {} : { event_data: large }))
    yield* publish(...events)
    const { items, total } = yield* store.list(envId(1), { limit: 4, offset: 1 })
    assert.strictEqual(total, 5)
    assert.isTrue(items.map(({ event_data }) => event_data === large).join() === "true,false,true,true")
    assert.deepStrictEqual(items[1], event(3))
    const first = yield* store.list(envId(1), { limit: 100, offset: 0 })
    assert.deepStrictEqual([first.items.length, first.total], [4, 5])
    const second = yield* store.list(envId(1), { limit: 100, offset: 4 })
    assert.deepStrictEqual([second.items.length, second.total], [1, 5])
  }),

  check("fails with NotFound for an event of another environment", function* () {
    const store = yield* EventStore
    yield* publish(event(1))
    assert.strictEqual((yield* Effect.flip(store.get(envId(2), eventId(1)))).message, "There is no such event")
    assert.strictEqual((yield* Effect.flip(store.get(envId(1), eventId(2))))._tag, "NotFound")
    assert.deepStrictEqual(yield* store.list(envId(2), everything), { items: [], total: 0 })
  }),

  check("lists events in pages with the total, newest first", function* () {
    const store = yield* EventStore
    yield* publish(event(2), event(5, { env_id: envId(2) }), event(4, { event_time: at(-9) }))
    yield* publish(event(3), event(1))
    assert.deepStrictEqual(yield* store.list(envId(1), { limit: 2, offset: 1 }), {
      items: [event(3), event(2)],
      total: 4
    })
    assert.deepStrictEqual(yield* store.list(envId(1), { limit: 2, offset: 4 }), { items: [], total: 4 })
  }),

  check("restricts a list to exact event types", function* () {
    const store = yield* EventStore
    yield* publish(
      event(1, { event_type: "a" }),
      event(2, { event_type: "b" }),
      event(3, { event_type: "a:b" }),
      event(4, { event_type: "A" }),
      event(5, { event_type: hostileText }),
      event(6, { event_type: "b" }),
      event(7, { event_type: "b", env_id: envId(2) })
    )
    const list = (only: ReadonlyArray<string>, page = everything) =>
      Effect.map(store.list(envId(1), page, only), ({ items, total }) => [total, ...items.map((item) => item.event_id)])
    assert.deepStrictEqual(yield* list(["a", "b"]), [3, eventId(6), eventId(2), eventId(1)])
    assert.deepStrictEqual(yield* list(["b", "nothing"], { limit: 1, offset: 1 }), [2, eventId(2)])
    assert.deepStrictEqual(yield* list([hostileText]), [1, eventId(5)])
    assert.deepStrictEqual(yield* list([]), [0])
  })
]
