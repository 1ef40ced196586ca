/**
 * The group-committing writer of a node: events, deliveries and runs are written here.
 *
 * A batch commits as soon as the previous one has, so an idle system waits for one commit and a busy one shares commits.
 * If the store supports concurrent commits, the next batch begins once it has half as many entries as those in flight.
 * It may overtake them, so write an entry that depends on another only after that write has returned. Commits contain few
 * large entries (`WriteQueue`).
 *
 * A write returns after its commit, and the bus receives its activity after the commit. So all published activity is
 * durable.
 */
import { Cause, Clock, Context, Effect, Exit, Latch, Layer } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { RunId } from "../../foundation/Ids.ts"
import { InFlightMap } from "../../foundation/InFlightMap.ts"
import { NodeMetrics } from "../../foundation/telemetry/NodeMetrics.ts"
import { now as currentTime, type Timestamp } from "../../foundation/time/Timestamp.ts"
import type { ActivityEvent } from "../../platform/cluster/ActivityEvent.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import { latestActivity, progressActivity, startActivity } from "../runs/Activity.ts"
import type { Run } from "../runs/Run.ts"
import { JournalMeter } from "./JournalMeter.ts"
import { type JournalEntry, JournalStore } from "./JournalStore.ts"
import { LocalRuns } from "./LocalRuns.ts"
import { NodeLease } from "./NodeLease.ts"
import { SeriesRecorder } from "./SeriesRecorder.ts"
import { UnconfirmedWrites } from "./UnconfirmedWrites.ts"
import { WriteQueue } from "./WriteQueue.ts"

/** Maximum entries per commit. Bounds the memory and the latency of a batch. */
const batchMax = 1000

/**
 * Minimum entries of a concurrent commit, as a share of the entries in flight. Measured with 32 publishers that wait for
 * their jobs: 1.0 left 38 % of the processors idle, 0.5 left 32 %. Less than 0.5 was no better.
 */
const concurrentShare = 0.5

/** Time in milliseconds after which a run without a delivery is stored as running. Most webhooks end before: one insert. */
const startGraceMs = 20

export class Journal extends Context.Service<
  Journal,
  {
    /**
     * Writes an entry, durably. Returns false if the entry did not count, because its run was no longer running.
     * `activity` is published before the runs of an appended event, before the end of a run without a delivery, and after a
     * settled run. It is built only if the bus has subscribers.
     */
    readonly write: (entry: JournalEntry, activity?: EntryActivity) => Effect.Effect<boolean, StoreUnavailable>
    /** As `write`, for code without a fiber. */
    readonly append: (entry: JournalEntry, done: WriteCallback, activity?: EntryActivity) => void
    /** Records the start of a run without a delivery. Returns at once; `write` the end of the run later. */
    readonly started: (run: Run) => void
    /**
     * Prevents that the start of a run is stored. Returns false if it was stored, or is being stored. Then `write` its end
     * with `startActivity`.
     */
    readonly preventStart: (runId: RunId) => boolean
    /** Counts a run of this node in its metrics, although the journal does not write its end. */
    readonly countEnded: (run: Pick<Run, "run_type" | "status">) => void
  }
>()("@weft/core/runtime/journal/Journal") {
  static readonly layer = Layer.effect(
    Journal,
    Effect.gen(function* () {
      const store = yield* JournalStore
      const lease = yield* NodeLease
      const localRuns = yield* LocalRuns
      const unconfirmed = yield* UnconfirmedWrites
      const bus = yield* ClusterBus
      const clock = yield* Clock.Clock
      const metrics = yield* NodeMetrics
      const series = yield* SeriesRecorder
      const meter = new JournalMeter()
      metrics.register(Effect.sync(() => meter.read()))
      const wake = Latch.makeUnsafe(false)
      const pending = new WriteQueue<PendingWrite>()
      unconfirmed.trackQueue(() => findOldest(pending.firsts) ?? null)
      /** Commits in flight, and their entries. */
      let commits = 0
      let committing = 0
      let isLargeInFlight = false
      const starting = new InFlightMap<RunId, Run>()
      const startWake = Latch.makeUnsafe(false)

      const isDue = () => {
        const ready = isLargeInFlight ? pending.smallSize : pending.size
        return ready > 0 && (commits === 0 || (commits < store.commitsMax && ready >= committing * concurrentShare))
      }
      const push = (write: PendingWrite) => {
        pending.push(write)
        if (isDue()) wake.openUnsafe()
      }

      /** Takes the next batch if one is due. Otherwise a commit that ends, or a new entry, wakes the loops again. */
      const take = () => {
        const taken = isDue() ? pending.take(batchMax, !isLargeInFlight) : nothing
        if (pending.size === 0 || taken.batch.length === 0) wake.closeUnsafe()
        return taken
      }

      const append = (entry: JournalEntry, activity: EntryActivity, done: WriteCallback) => {
        const isStartPublished = entry._tag !== "Ended" || !starting.delete(entry.run.run_id)
        push({ entry, activity, isStartPublished, done })
      }

      const commit = Effect.fnUntraced(function* (batch: ReadonlyArray<PendingWrite>) {
        const due = lease.due(yield* currentTime)
        const began = clock.currentTimeNanosUnsafe()
        const entries = batch.map((write) => write.entry)
        // The entries may have been queued for a while.
        const exit = yield* Effect.exit(unconfirmed.track(store.commit(entries, due), findOldest(entries)))
        if (Exit.isSuccess(exit)) {
          meter.countCommit(batch.length, Number(clock.currentTimeNanosUnsafe() - began) / 1e9)
          if (due !== null) lease.renewed(due)
          const counted = exit.value
          if (bus.hasSubscribers()) {
            yield* bus.publish(batch.flatMap((write, index) => (counted[index] === true ? buildActivity(write) : [])))
          }
          for (const [index, write] of batch.entries()) {
            if (counted[index] === true) {
              meter.countEntry(write.entry)
              series.countEntry(write.entry)
            }
            write.done(Exit.succeed(counted[index] === true))
          }
        } else {
          localRuns.markUncertain()
          const failed = Exit.failCause(exit.cause)
          // The entries that arrived meanwhile would wait as long for the same error.
          const queued = Cause.hasFails(exit.cause) ? pending.takeAll() : []
          if (queued.length > 0) wake.closeUnsafe()
          for (const write of [...batch, ...queued]) write.done(failed)
        }
      })

      const commitLoop = Effect.forever(
        Effect.gen(function* () {
          yield* wake.await
          // After one turn of the event loop, entries that arrive together share the commit.
          yield* Effect.yieldNow
          const { batch, hasLarge } = take()
          if (batch.length === 0) return
          commits++
          if (hasLarge) isLargeInFlight = true
          committing += batch.length
          yield* Effect.ensuring(
            commit(batch),
            Effect.sync(() => {
              commits--
              committing -= batch.length
              if (hasLarge) isLargeInFlight = false
              if (pending.size > 0) wake.openUnsafe()
            })
          )
        })
      )

      const startLoop = Effect.forever(
        Effect.gen(function* () {
          yield* startWake.await
          yield* Effect.sleep(startGraceMs)
          const before = (yield* currentTime) - startGraceMs
          for (const run of starting.values()) {
            if (run.start_time > before) break
            starting.delete(run.run_id)
            push({ entry: { _tag: "Started", run }, activity: noActivity, isStartPublished: true, done: ignore })
          }
          if (starting.size === 0) startWake.closeUnsafe()
        })
      )

      for (let loops = 0; loops < store.commitsMax; loops++) yield* Effect.forkScoped(commitLoop)
      yield* Effect.forkScoped(startLoop)

      return Journal.of({
        write: (entry, activity = noActivity) => Effect.callback((resume) => append(entry, activity, resume)),
        append: (entry, done, activity = noActivity) => append(entry, activity, done),
        started: (run) => {
          starting.set(run.run_id, run)
          if (starting.size === 1) startWake.openUnsafe()
        },
        preventStart: (runId) => starting.delete(runId),
        countEnded: (run) => meter.countEnded(run)
      })
    })
  )
}

/** Builds the activity of an entry in addition to that of its runs. */
export type EntryActivity = () => ReadonlyArray<ActivityEvent>

/** Adds no activity. */
export const noActivity: EntryActivity = () => []

const nothing = { batch: [], hasLarge: false }

interface PendingWrite {
  readonly entry: JournalEntry
  readonly activity: EntryActivity
  /** False for the end of a run whose start was not written. */
  readonly isStartPublished: boolean
  readonly done: WriteCallback
}

/** Receives true once the entry is durable, or false if it did not count. */
export type WriteCallback = (exit: Exit.Exit<boolean, StoreUnavailable>) => void

/** Returns the time of the oldest entry; undefined without entries. */
const findOldest = (entries: ReadonlyArray<JournalEntry>): Timestamp | undefined =>
  entries.reduce<Timestamp | undefined>((oldest, entry) => {
    const at = readTime(entry)
    return oldest === undefined || at < oldest ? at : oldest
  }, undefined)

const readTime = (entry: JournalEntry): Timestamp => {
  if (entry._tag === "Appended") return entry.event.created_at
  return entry._tag === "Advanced" ? entry.at : (entry.run.stop_time ?? entry.run.start_time)
}

/** A failed write of `Started` loses nothing: `Ended` stores the complete run. */
const ignore = () => {}

const buildActivity = ({ entry, activity, isStartPublished }: PendingWrite): ReadonlyArray<ActivityEvent> => {
  switch (entry._tag) {
    case "Appended":
      return [...activity(), ...entry.deliveries.flatMap(({ run }) => (run === null ? [] : [latestActivity(run)]))]
    case "Started":
      return startActivity(entry.run)
    case "Ended": {
      const end = [...activity(), latestActivity(entry.run)]
      return isStartPublished ? end : [...startActivity(entry.run), ...end]
    }
    case "Settled":
      return [latestActivity(entry.run), ...activity()]
    case "Advanced":
      return [...progressActivity(entry), ...activity()]
  }
}
