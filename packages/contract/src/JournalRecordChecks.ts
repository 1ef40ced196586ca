/** Checks that the journal stores events, deliveries and runs completely, with a random value in each field. */
import { assert } from "@effect/vitest"
import {
  type Delivery,
  type Event,
  EventStore,
  type JournalEntry,
  JournalStore,
  noRetry,
  type Run,
  RunStore,
  RunType,
  toJsonText
} from "@weft/core/adapter"
import { Effect } from "effect"
import * as fc from "fast-check"
import { type Check, check } from "./Check.ts"
import { claimAll, type JournalStores } from "./Claims.ts"
import { at, buildId, deliveryId, envId, eventId, nodeId, projectId, run, runId, streamId } from "./Samples.ts"

const count = 30

/** Returns random records, always the same. */
const sample = <A>(records: fc.Arbitrary<A>): ReadonlyArray<A> => fc.sample(records, { numRuns: count, seed: 7 })

const text = fc.string({ unit: "grapheme", maxLength: 20 })
const json = fc.jsonValue().map((value) => toJsonText(JSON.parse(JSON.stringify(value))))
const number = fc.nat({ max: 1_000_000 })
const real = fc.double({ min: 0, max: 1e9, noNaN: true })

/** The fields that a run and its delivery have in common, except their ids. */
const common = {
  env_id: fc.constant(envId(1)),
  stream_id: number.map(streamId),
  project_id: number.map(projectId),
  project_name: text,
  build_id: number.map(buildId),
  ns: text,
  var: text,
  run_type: fc.constantFrom(...RunType.literals),
  attempt: number
}

const endedRuns: ReadonlyArray<Run> = sample(
  fc.record({
    ...common,
    run_id: fc.constant(runId(0)),
    status: fc.constantFrom("succeeded", "failed", "cancelled"),
    start_time: number.map(at),
    stop_time: number.map(at),
    origin_run_id: fc.option(number.map(runId)),
    event_id: fc.option(number.map(eventId)),
    // Nor do they have batches.
    event_ids: fc.constant(null),
    result: json,
    node_id: number.map(nodeId),
    cpu_ms: fc.option(real),
    wall_ms: fc.option(real),
    heap_bytes: fc.option(number),
    // Runs without a delivery are never durable.
    activations: fc.constant(null),
    waiting: fc.constant(null),
    steps: fc.constant(null)
  })
).map((each, index) => ({ ...each, run_id: runId(index) }))

const unended = {
  status: "running",
  stop_time: null,
  result: null,
  cpu_ms: null,
  wall_ms: null,
  heap_bytes: null
} as const

const storedRuns = Effect.flatMap(RunStore, (runs) =>
  Effect.forEach(endedRuns, ({ env_id, run_id }) => runs.get(env_id, run_id))
)

/** Events with a delivery each, due in the order of the list. */
const published: ReadonlyArray<{ readonly event: Event; readonly delivery: Delivery }> = sample(
  fc.record({
    event: fc.record({ event_type: text, event_data: json, event_time: number.map(at), created_at: number.map(at) }),
    delivery: fc.record({
      ...common,
      retry: fc.record({
        attempts: fc.integer({ min: 1, max: 100 }),
        delay_ms: real,
        backoff: real,
        max_delay_ms: real,
        jitter: fc.boolean()
      }),
      timeout_ms: number,
      group: fc.option(fc.record({ key: text, limit: fc.constant(count) })),
      caused_by: fc.option(number.map(runId)),
      depth: fc.nat(1000),
      first_run_id: fc.option(number.map(runId)),
      durable: fc.boolean(),
      continues: fc.constant(null),
      on_failure: fc.record({
        ns: text,
        var: text,
        retry: fc.constant(noRetry),
        timeout_ms: number,
        durable: fc.boolean()
      }),
      recording: fc.record({
        host_calls: fc.boolean(),
        share: fc.constantFrom(0.25, 1),
        redact: fc.array(text),
        context: fc.array(text),
        retention_ms: number
      }),
      traceparent: text
    })
  })
).map(({ event, delivery }, index) => {
  const ids = { env_id: delivery.env_id, event_id: eventId(index), stream_id: delivery.stream_id }
  return {
    event: { ...event, ...ids },
    delivery: { ...delivery, ...ids, delivery_id: deliveryId(index), due_at: at(index) }
  }
})

export const recordChecks: ReadonlyArray<Check<JournalStores>> = [
  check("stores each field of runs, when they start and when they end", function* () {
    const journal = yield* JournalStore
    const started = endedRuns.map((each): Run => ({ ...each, ...unended }))
    yield* journal.commit(
      started.map((each) => ({ _tag: "Started", run: each })),
      null
    )
    assert.deepStrictEqual(yield* storedRuns, started)
    yield* journal.commit(
      endedRuns.map((each) => ({ _tag: "Ended", run: each, logs: [] })),
      null
    )
    assert.deepStrictEqual(yield* storedRuns, endedRuns)
  }),

  check("stores each field of runs whose start was not stored", function* () {
    const entries = endedRuns.map((each): JournalEntry => ({ _tag: "Ended", run: each, logs: [] }))
    assert.isTrue((yield* (yield* JournalStore).commit(entries, null)).every(Boolean))
    assert.deepStrictEqual(yield* storedRuns, endedRuns)
  }),

  check("stores each field of events and deliveries, and keeps them for the next attempt", function* () {
    const journal = yield* JournalStore
    yield* journal.commit(
      published.map(({ event, delivery }) => ({ _tag: "Appended", event, deliveries: [{ delivery, run: null }] })),
      null
    )
    const stored = yield* Effect.flatMap(EventStore, (events) =>
      Effect.forEach(published, ({ event }) => events.get(envId(1), event.event_id))
    )
    assert.deepStrictEqual(
      stored,
      published.map(({ event }) => event)
    )

    const first = yield* claimAll(at(count))
    assert.deepStrictEqual(
      first.claims.map(({ event, delivery }) => ({ event, delivery })),
      published
    )
    const next = (index: number) => ({ attempt: index + 2, due_at: at(count + index), first_run_id: runId(index) })
    yield* journal.commit(
      first.claims.map(({ run, delivery }, index): JournalEntry => {
        const over: Run = { ...run, status: "failed", stop_time: at(count) }
        return { _tag: "Settled", run: over, logs: [], deliveryId: delivery.delivery_id, next: next(index) }
      }),
      null
    )
    const second = yield* claimAll(at(2 * count), {
      runIds: first.claims.map((_, index) => run(20_000 + index).run_id)
    })
    assert.deepStrictEqual(
      second.claims.map(({ event, delivery }) => ({ event, delivery })),
      published.map(({ event, delivery }, index) => ({ event, delivery: { ...delivery, ...next(index) } }))
    )
  })
]
