/**
 * Ended runs whose response did not wait for their record. They are written to the journal within 100 ms.
 *
 * While the store does not answer, they wait in memory and are written again. Their number is limited. A caller whose run
 * does not fit waits for its record instead. A crash of the host loses the pending records, and a shutdown writes them.
 */
import { Cause, Clock, Context, Effect, Exit, Latch, Layer } from "effect"
import { NodeMetrics } from "../../foundation/telemetry/NodeMetrics.ts"
import type { Series } from "../../foundation/telemetry/Series.ts"
import { type EntryActivity, Journal } from "./Journal.ts"
import type { JournalEntry } from "./JournalStore.ts"
import { RecordBudget } from "./RecordBudget.ts"
import { measureEntry } from "./WriteQueue.ts"

/** Delay in milliseconds, in which records gather for one commit. */
const delayMs = 100

/** Maximum records per write, so that others do not queue behind thousands of them after an outage. */
const writeMax = 1_000

/** Pause after a failed write. */
const pause = "1 second"

/** Maximum writes of a record that fail with a defect. Outages do not count. */
const defectsMax = 3

/** Maximum duration of the last writes at shutdown, in milliseconds. */
const shutdownMs = 10_000

type Ended = Extract<JournalEntry, { _tag: "Ended" }>

export class DeferredRecords extends Context.Service<
  DeferredRecords,
  {
    /**
     * Stores the end of a run later, as `Journal.append`, and calls `onStored` then. Returns false, without taking the run,
     * if too many are pending.
     */
    readonly defer: (entry: Ended, activity: EntryActivity, onStored: () => void) => boolean
  }
>()("@weft/core/runtime/journal/DeferredRecords") {
  static readonly layer = Layer.effect(
    DeferredRecords,
    Effect.gen(function* () {
      const journal = yield* Journal
      const clock = yield* Clock.Clock
      const metrics = yield* NodeMetrics
      const budget = new RecordBudget()
      const hasQueued = Latch.makeUnsafe(false)
      let queue: Array<DeferredRecord> = []
      let writing = 0
      let lost = 0
      let isClosed = false

      metrics.register(
        Effect.sync(() => [
          series("gauge", "weft_records_pending", "Ended runs of this node that are not stored yet", budget.records),
          series("counter", "weft_records_lost_total", "Ended runs of this node whose record was lost", lost)
        ])
      )

      const settle = (record: DeferredRecord): void => {
        budget.release(record.entry.run.env_id, record.length)
        record.onStored()
      }

      /** Drops the records whose writes failed with defects, so that they do not fail those of others. */
      const dropBroken = Effect.fnUntraced(function* (cause: Cause.Cause<unknown>) {
        const broken = queue.filter(({ defects }) => defects >= defectsMax)
        queue = queue.filter(({ defects }) => defects < defectsMax)
        lost += broken.length
        for (const record of broken) {
          settle(record)
          yield* Effect.logError(`The record of the run ${record.entry.run.run_id} is lost`, cause)
        }
      })

      /** Writes queued records. Those that fail are queued again. Returns the first failure, or null. */
      const writeQueued = Effect.callback<Cause.Cause<unknown> | null>((resume) => {
        const records = queue.splice(0, writeMax)
        writing = records.length
        let failure: Cause.Cause<unknown> | null = null
        const finish = (record: DeferredRecord, exit: Exit.Exit<boolean, unknown>) => {
          if (Exit.isSuccess(exit)) settle(record)
          else {
            failure ??= exit.cause
            queue.push(Cause.hasDies(exit.cause) ? { ...record, defects: record.defects + 1 } : record)
          }
          if (--writing === 0) resume(Effect.succeed(failure))
        }
        if (records.length === 0) return resume(Effect.succeed(null))
        for (const record of records) {
          journal.append(record.entry, (exit) => finish(record, exit), record.activity)
        }
      })

      const flush = Effect.gen(function* () {
        const failure = yield* writeQueued
        if (failure === null) return
        yield* Effect.logWarning(`${budget.records} records of runs are not stored yet`, failure)
        yield* dropBroken(failure)
        yield* Effect.sleep(pause)
      })

      const loop = Effect.gen(function* () {
        yield* hasQueued.await
        yield* Effect.sleep(delayMs)
        yield* flush
        if (queue.length === 0) hasQueued.closeUnsafe()
      })

      const flushAll = Effect.gen(function* () {
        isClosed = true
        const until = clock.currentTimeMillisUnsafe() + shutdownMs
        while (budget.records > 0 && clock.currentTimeMillisUnsafe() < until) {
          // The loop was interrupted, but its last write continues.
          if (writing > 0) yield* Effect.sleep(delayMs)
          else yield* flush
        }
        if (budget.records > 0) yield* Effect.logError(`The records of ${budget.records} runs are lost`)
      })

      yield* Effect.addFinalizer(() => flushAll)
      yield* Effect.forkScoped(Effect.forever(loop))

      return DeferredRecords.of({
        defer: (entry, activity, onStored) => {
          const length = measureEntry(entry)
          if (isClosed || !budget.take(entry.run.env_id, length)) return false
          queue.push({ entry, activity, onStored, length, defects: 0 })
          if (queue.length === 1) hasQueued.openUnsafe()
          return true
        }
      })
    })
  )
}

interface DeferredRecord {
  readonly entry: Ended
  readonly activity: EntryActivity
  readonly onStored: () => void
  /** Characters of the entry's texts. */
  readonly length: number
  /** Failed writes that were defects. */
  readonly defects: number
}

const series = (type: Series["type"], name: string, help: string, value: number): Series => ({
  ...{ type, name, help, labels: {}, value }
})
