/** Contract of `StreamStore`. Adapters run this suite; they do not copy it. */
import { assert } from "@effect/vitest"
import {
  EventId,
  JournalStore,
  JsonText,
  leastIdAt,
  type Run,
  RunId,
  type SinceQuery,
  type StoredActivity,
  StreamId,
  StreamStore,
  utf8Encode
} from "@weft/core/adapter"
import { Effect, type Layer, type Schema } from "effect"
import { type Check, check, suite } from "./Check.ts"
import { at, bigJson, ended, envId, event, run, streamId } from "./Samples.ts"

export const streamStoreContract = <E>(adapter: string, layer: Layer.Layer<StreamStore | JournalStore, E>) =>
  suite(`StreamStore contract: ${adapter}`, streamStoreChecks, layer)

const commit = (...entries: Parameters<JournalStore["Service"]["commit"]>[0]) =>
  JournalStore.use((journal) => journal.commit(entries, null))

const exists = (env: number, stream: StreamId) => StreamStore.use((store) => store.exists(envId(env), stream))

const since = (env: number, query: Partial<SinceQuery> = {}) =>
  StreamStore.use((store) =>
    store.since(envId(env), { from: at(0), stream: null, limit: 1000, bytes: 1_000_000, ...query })
  )

/** Returns an id created at `at(millis)`. */
const madeAt = <Id extends string>(schema: Schema.Codec<Id, string>, millis: number): Id =>
  leastIdAt(schema, at(millis))

/** An event published at `millis`, in its own stream unless another is given. */
const publishedAt = (millis: number, stream = millis, env = 1) => ({
  _tag: "Appended" as const,
  event: event(millis, {
    env_id: envId(env),
    event_id: madeAt(EventId, millis),
    stream_id: streamId(stream),
    created_at: at(millis),
    event_time: at(millis)
  }),
  deliveries: []
})

/** A run started at `millis`, with or without an event, in its own stream unless another is given. */
const begunAt = (millis: number, fields: Partial<Run> = {}): Run =>
  run(millis, {
    run_id: madeAt(RunId, millis),
    stream_id: streamId(millis),
    start_time: at(millis),
    event_id: madeAt(EventId, millis),
    ...fields
  })

const endedAt = (running: Run, millis: number, fields: Partial<Run> = {}) => ({
  _tag: "Ended" as const,
  run: ended(running, { stop_time: at(millis), result: JsonText.make(String(millis)), ...fields }),
  logs: []
})

/** Returns the activity as lines `time type`. */
const summarize = (activity: ReadonlyArray<StoredActivity>) =>
  activity.map(({ at: time, activity }) => `${time - at(0)} ${activity.type}`)

const existenceChecks: ReadonlyArray<Check<StreamStore | JournalStore>> = [
  check("exists is true as soon as the stream has an event with any id", function* () {
    const own = StreamId.make("0f0e0d0c-0b0a-4908-8706-050403020100")
    assert.isFalse(yield* exists(1, streamId(1)))
    yield* commit(
      { _tag: "Appended", event: event(1, { stream_id: streamId(1) }), deliveries: [] },
      { _tag: "Appended", event: event(2, { stream_id: own }), deliveries: [] }
    )
    assert.isTrue(yield* exists(1, streamId(1)))
    assert.isTrue(yield* exists(1, own))
    assert.isFalse(yield* exists(1, streamId(2)))
  }),

  check("exists is true as soon as the stream has a run without an event, also after it ended", function* () {
    yield* commit({ _tag: "Started", run: run(1, { stream_id: streamId(1), event_id: null }) })
    assert.isTrue(yield* exists(1, streamId(1)))
    yield* commit({
      _tag: "Ended",
      run: run(2, { stream_id: streamId(2), event_id: null, status: "succeeded" }),
      logs: []
    })
    assert.isTrue(yield* exists(1, streamId(2)))
    assert.isFalse(yield* exists(1, streamId(3)))
  }),

  check("exists is false for streams of other environments", function* () {
    yield* commit(
      { _tag: "Appended", event: event(1, { env_id: envId(2), stream_id: streamId(1) }), deliveries: [] },
      { _tag: "Started", run: run(1, { env_id: envId(2), stream_id: streamId(2), event_id: null }) }
    )
    assert.deepStrictEqual(yield* Effect.all([exists(1, streamId(1)), exists(1, streamId(2))]), [false, false])
    assert.deepStrictEqual(yield* Effect.all([exists(2, streamId(1)), exists(2, streamId(2))]), [true, true])
  })
]

const sinceChecks: ReadonlyArray<Check<StreamStore | JournalStore>> = [
  check("since returns activity in order of time, in the form of the bus", function* () {
    const waited = begunAt(30, { event_id: null, run_type: "call" })
    const failed = endedAt(begunAt(20), 45, { status: "failed" })
    yield* commit(
      publishedAt(10),
      publishedAt(20),
      endedAt(begunAt(10), 15),
      failed,
      endedAt(begunAt(40, { stream_id: streamId(20), event_id: madeAt(EventId, 20) }), 50, { status: "cancelled" }),
      endedAt(waited, 30),
      { _tag: "Started", run: begunAt(60, { event_id: null }) }
    )
    const happened = yield* since(1, { from: at(20) })
    assert.deepStrictEqual(summarize(happened), [
      "20 stream:created",
      "20 event:created",
      "20 run:start",
      "30 stream:created",
      "30 run:start",
      "30 run:stop",
      "40 run:start",
      "45 run:fail",
      "50 run:cancel",
      "60 stream:created",
      "60 run:start"
    ])
    const { env_id, run_id, stream_id, run_type, project_id, project_name, result } = failed.run
    const facts = { env_id, run_id, stream_id, run_type, project_id, project_name }
    assert.deepStrictEqual(happened[2]?.activity, { type: "run:start", ...facts })
    assert.deepStrictEqual(happened[7]?.activity, { type: "run:fail", ...facts, result: result ?? JsonText.make("") })
    assert.deepStrictEqual(happened[1]?.activity, {
      type: "event:created",
      env_id,
      event_id: madeAt(EventId, 20),
      stream_id,
      event_type: "order:created"
    })
  }),

  check("since returns the end of a run that started up to an hour earlier", function* () {
    const hour = 3_600_000
    yield* commit(publishedAt(0), endedAt(begunAt(0), hour + 5), endedAt(begunAt(1), 2))
    assert.deepStrictEqual(summarize(yield* since(1, { from: at(hour) })), [`${hour + 5} run:stop`])
  }),

  check("since returns nothing of other environments", function* () {
    yield* commit(publishedAt(10, 10, 2), endedAt(begunAt(10, { env_id: envId(2) }), 15))
    assert.deepStrictEqual(yield* since(1), [])
    assert.lengthOf(yield* since(2), 4)
  }),

  check("since returns the activity of a stream's runs", function* () {
    yield* commit(
      publishedAt(10),
      publishedAt(12, 10),
      publishedAt(20),
      endedAt(begunAt(10), 15),
      endedAt(begunAt(12, { stream_id: streamId(10) }), 13),
      endedAt(begunAt(20), 25),
      endedAt(begunAt(30, { event_id: null }), 35)
    )
    const expected = ["10 run:start", "12 run:start", "13 run:stop", "15 run:stop"]
    assert.deepStrictEqual(summarize(yield* since(1, { stream: streamId(10) })), expected)
    assert.deepStrictEqual(summarize(yield* since(1, { stream: streamId(10), from: at(13) })), expected.slice(2))
    assert.deepStrictEqual(summarize(yield* since(1, { stream: streamId(30) })), ["30 run:start", "35 run:stop"])
    assert.deepStrictEqual(yield* since(2, { stream: streamId(10) }), [])
  }),

  check("since reports the creation of a stream with its first record", function* () {
    yield* commit(
      publishedAt(10),
      publishedAt(20, 10),
      endedAt(begunAt(30, { event_id: null }), 31),
      publishedAt(40, 30),
      publishedAt(50, 10, 2)
    )
    const begun = (happened: ReadonlyArray<StoredActivity>) =>
      happened.filter(({ activity }) => activity.type === "stream:created").map(({ activity }) => activity.stream_id)
    assert.deepStrictEqual(begun(yield* since(1)), [streamId(10), streamId(30)])
    assert.deepStrictEqual(begun(yield* since(1, { from: at(20) })), [streamId(30)])
    assert.deepStrictEqual(begun(yield* since(2)), [streamId(10)])
  }),

  check("since returns the latest activity up to the limit", function* () {
    const entries = [10, 20, 30, 40].flatMap((n) => [publishedAt(n, 1), endedAt(begunAt(n), n + 5)])
    yield* commit(...entries)
    const all = summarize(yield* since(1))
    assert.lengthOf(all, 13)
    for (const limit of [0, 1, 3, 12, 13, 14]) {
      assert.deepStrictEqual(
        summarize(yield* since(1, { limit })),
        all.slice(Math.max(0, all.length - limit)),
        `${limit}`
      )
    }
  }),

  check("since returns thousands of records completely and once, and each stream creation once", function* () {
    const [count, streams] = [1_200, 700]
    const events = Array.from({ length: count }, (_, n) => publishedAt(10 + n, 10 + (n % streams)))
    const runs = Array.from({ length: count }, (_, n) =>
      endedAt(begunAt(10 + n, { stream_id: streamId(10 + (n % streams)) }), 5_000 + n)
    )
    yield* commit(...events)
    yield* commit(...runs)
    const all = summarize(yield* since(1, { limit: 4 * count }))
    const expected = Array.from({ length: count }, (_, n) => [
      ...(n < streams ? [`${10 + n} stream:created`] : []),
      `${10 + n} event:created`,
      `${10 + n} run:start`
    ]).flat()
    assert.deepStrictEqual(all.slice(0, expected.length), expected)
    assert.deepStrictEqual(
      all.slice(expected.length),
      Array.from({ length: count }, (_, n) => `${5_000 + n} run:stop`)
    )
    for (const limit of [100, count + 100]) {
      assert.deepStrictEqual(summarize(yield* since(1, { limit })), all.slice(-limit), `${limit}`)
    }
  }),

  check("since returns results up to the byte budget, and then nothing older", function* () {
    yield* commit(
      endedAt(begunAt(10), 15, { result: JsonText.make(`"${"é".repeat(500)}"`) }),
      endedAt(begunAt(20), 25, { result: JsonText.make(`"${"x".repeat(500)}"`) }),
      endedAt(begunAt(30), 35, { result: bigJson })
    )
    const from = (millis: number, bytes: number) => Effect.map(since(1, { from: at(millis), bytes }), summarize)
    assert.deepStrictEqual(yield* from(36, 0), [])
    assert.deepStrictEqual(yield* from(0, 1000), [])
    const big = utf8Encode(bigJson).length
    assert.deepStrictEqual(
      yield* from(0, big),
      ["35 run:stop"].flatMap((end) => ["30 run:start", end])
    )
    assert.deepStrictEqual(yield* from(0, big + 502), ["20 run:start", "25 run:stop", "30 run:start", "35 run:stop"])
    assert.lengthOf(yield* from(0, big + 502 + 1001), 4)
    const whole = yield* since(1, { bytes: big + 502 + 1002 })
    assert.lengthOf(whole, 6)
    const last = whole.at(-1)?.activity
    assert.isTrue(last !== undefined && "result" in last && last.result === bigJson)
  })
]

export const streamStoreChecks: ReadonlyArray<Check<StreamStore | JournalStore>> = [...existenceChecks, ...sinceChecks]
