/**
 * Stores the recordings of ended runs, some at a time, after the responses of their runs.
 *
 * Until then they are in memory, within a budget. While the store does not answer, they are written again. A crash of the
 * host loses them, and a shutdown writes them. A run whose recording is lost has none: no recording is wrong.
 */
import { Context, Effect, Latch, Layer } from "effect"
import { toJsonText } from "../../foundation/JsonText.ts"
import { logOutage } from "../../foundation/Supervised.ts"
import { NodeMetrics } from "../../foundation/telemetry/NodeMetrics.ts"
import { Keyring } from "../../platform/encryption/Keyring.ts"
import type { Execution } from "../../platform/sandbox/Outcome.ts"
import type { RecordingRules } from "../../resources/builds/RecordingRules.ts"
import {
  isRecorded,
  type RecordedInput,
  recordingLengthMax,
  recordingPlace,
  type StoredRecording
} from "../runs/Recording.ts"
import { RecordingStore } from "../runs/RecordingStore.ts"
import type { Run } from "../runs/Run.ts"
import { CallRecorder, lengthOf } from "./CallRecorder.ts"
import { RecordingBudget } from "./RecordingBudget.ts"

/** Delay in milliseconds, in which recordings gather for one write. */
const delayMs = 200

/** Maximum recordings per write, and maximum characters of their texts, if there is more than one. */
const batch = 50
const batchLengthMax = 1024 * 1024

/** Pause after a failed write. */
const pause = "1 second"

/** Maximum duration of the last writes at shutdown, in milliseconds. */
const shutdownMs = 10_000

interface Ended {
  readonly recorder: CallRecorder
  readonly execution: Execution
  readonly secrets: ReadonlySet<string>
}

export class RecordingWriter extends Context.Service<
  RecordingWriter,
  {
    /** Begins the recording of a run; null if the run is not in the share of its function, or if memory is short. */
    readonly begin: (run: Run, rules: RecordingRules, input: RecordedInput) => CallRecorder | null
    /** Stores the recording of an ended run later. `secrets` are those that the run has received. */
    readonly end: (recorder: CallRecorder, execution: Execution, secrets: ReadonlySet<string>) => void
  }
>()("@weft/core/runtime/execution/RecordingWriter") {
  static readonly layer: Layer.Layer<RecordingWriter, never, RecordingStore | Keyring | NodeMetrics> = Layer.effect(
    RecordingWriter,
    Effect.gen(function* () {
      const store = yield* RecordingStore
      const keyring = yield* Keyring
      const metrics = yield* NodeMetrics
      const budget = new RecordingBudget()
      const hasQueued = Latch.makeUnsafe(false)
      const counts = { stored: 0, dropped: 0 }
      let queue: Array<Ended> = []

      metrics.register(
        Effect.sync(() =>
          (["stored", "dropped"] as const).map((result) => ({
            type: "counter",
            name: "weft_recordings_total",
            help: "Recordings of runs of this node",
            labels: { result },
            value: counts[result]
          }))
        )
      )

      const drop = (count: number) => {
        counts.dropped += count
      }

      const seal = Effect.fnUntraced(function* ({ recorder, execution, secrets }: Ended) {
        // Each may take some milliseconds of this thread.
        yield* Effect.yieldNow
        const ended = recorder.end(execution, secrets)
        if (ended === null) return drop(1)
        const { summary, contents } = ended
        return { ...summary, contents: yield* keyring.seal(toJsonText(contents), recordingPlace(summary)) }
      })

      const save = (recordings: ReadonlyArray<StoredRecording>) =>
        store.save(recordings).pipe(
          Effect.tap(() =>
            Effect.sync(() => {
              counts.stored += recordings.length
            })
          ),
          Effect.tapError((error) => Effect.andThen(logOutage(error), Effect.sleep(pause))),
          Effect.retry({ while: () => true }),
          Effect.catchCause((cause) => {
            drop(recordings.length)
            return Effect.logError(`${recordings.length} recordings are lost`, cause)
          })
        )

      /** Stores the oldest recordings. */
      const flush = Effect.gen(function* () {
        const ended = queue.slice(0, countBatch(queue))
        const recordings: Array<StoredRecording> = []
        for (const each of ended) {
          const sealed = yield* Effect.catchCause(seal(each), (cause) => {
            drop(1)
            return Effect.logError("A recording is lost", cause)
          })
          if (sealed !== undefined) recordings.push(sealed)
        }
        yield* save(recordings)
        queue = queue.slice(ended.length)
        for (const { recorder } of ended) recorder.release()
      })

      const loop = Effect.gen(function* () {
        yield* hasQueued.await
        yield* Effect.sleep(delayMs)
        while (queue.length > 0) yield* flush
        hasQueued.closeUnsafe()
      })

      const flushAll = Effect.gen(function* () {
        while (queue.length > 0) yield* flush
      }).pipe(Effect.timeoutOption(shutdownMs), Effect.andThen(Effect.suspend(() => reportLost(queue.length))))

      yield* Effect.addFinalizer(() => flushAll)
      yield* Effect.forkScoped(Effect.forever(loop))

      return RecordingWriter.of({
        begin: (run, rules, input) => {
          if (!isRecorded(run.run_id, rules.share)) return null
          const length = lengthOf(input)
          if (length <= recordingLengthMax && budget.take(run.env_id, length)) {
            return new CallRecorder(run, rules, input, budget)
          }
          drop(1)
          return null
        },
        end: (recorder, execution, secrets) => {
          queue.push({ recorder, execution, secrets })
          if (queue.length === 1) hasQueued.openUnsafe()
        }
      })
    })
  )
}

/** Returns the number of the oldest recordings that one write stores. */
const countBatch = (queue: ReadonlyArray<Ended>): number => {
  let length = 0
  const count = queue.slice(0, batch).findIndex(({ recorder }) => {
    length += recorder.length
    return length > batchLengthMax
  })
  return count === -1 ? batch : Math.max(1, count)
}

const reportLost = (count: number) =>
  count === 0 ? Effect.void : Effect.logError(`${count} recordings of runs are lost`)
