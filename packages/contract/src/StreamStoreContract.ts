/** What every `StreamStore` must do. Adapters run this suite; they do not copy it. */
import { assert } from "@effect/vitest"
import { JournalStore, StreamId, StreamStore } from "@weft/core"
import { Effect, type Layer } from "effect"
import { type Check, check, suite } from "./Check.ts"
import { envId, event, run, streamId } from "./Samples.ts"

export const streamStoreContract = <E>(adapter: string, layer: Layer.Layer<StreamStore | JournalStore, E>) =>
  suite(`StreamStore contract: ${adapter}`, streamStoreChecks, layer)

const commit = (...entries: Parameters<JournalStore["Service"]["commit"]>[0]) =>
  JournalStore.use((journal) => journal.commit(entries, null))

const exists = (env: number, stream: StreamId) => StreamStore.use((store) => store.exists(envId(env), stream))

export const streamStoreChecks: ReadonlyArray<Check<StreamStore | JournalStore>> = [
  check("a stream exists as soon as an event is in it, whatever its id", function* () {
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

  check("a stream exists as soon as a run without an event is in it, and when that has ended", function* () {
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

  check("streams of other environments do not", function* () {
    yield* commit(
      { _tag: "Appended", event: event(1, { env_id: envId(2), stream_id: streamId(1) }), deliveries: [] },
      { _tag: "Started", run: run(1, { env_id: envId(2), stream_id: streamId(2), event_id: null }) }
    )
    assert.deepStrictEqual(yield* Effect.all([exists(1, streamId(1)), exists(1, streamId(2))]), [false, false])
    assert.deepStrictEqual(yield* Effect.all([exists(2, streamId(1)), exists(2, streamId(2))]), [true, true])
  })
]
