/**
 * The group-committing writer of a node: everything that running writes goes through here.
 *
 * A batch commits as soon as the one before has, so an idle system pays one commit of latency and a busy one
 * shares it. Where the store can do more than one at once, the next begins as soon as it has half as much to write as
 * those under way; it may overtake them, so what follows from a write is written when that has returned. Nobody is told
 * that something happened before it is durable: a write returns after its commit, and so do the messages on the feed.
 */
import { Cause, Clock, Context, Effect, Exit, Latch, Layer } from "effect"
import type { Activity } from "../activity/Activity.ts"
import { Feed } from "../activity/Feed.ts"
import type { StoreUnavailable } from "../errors/Errors.ts"
import type { RunId } from "../ids/Ids.ts"
import { now as currentTime, type Timestamp } from "../ids/Timestamp.ts"
import { NodeMetrics } from "../metrics/NodeMetrics.ts"
import { Roster } from "../runs/Roster.ts"
import type { Run } from "../runs/Run.ts"
import { JournalMeter } from "./JournalMeter.ts"
import { type JournalEntry, JournalStore } from "./JournalStore.ts"
import { NodeLease } from "./NodeLease.ts"
import { OwnRuns } from "./OwnRuns.ts"
import { Untold } from "./Untold.ts"

/** Entries in one commit. Bounds the memory of a batch and the time that the first of it waits for the last. */
const batchMax = 1000

/**
 * What a commit has at least that begins beside others, as a share of theirs. As much as they have would leave 38 % of
 * the processors idle instead of 32 % while 32 publishers wait for their jobs; less than half was no better.
 */
const besideShare = 0.5

/** A run without a delivery is written as running only if it lasts longer than this; most webhooks are one insert. */
const startGraceMs = 20

export class Journal extends Context.Service<
  Journal,
  {
    /**
     * Durable when it returns. False when the entry no longer counted: the run is not running any more.
     * `news` of an appended event is told before its runs, that of a settled run after it; it is built only where somebody
     * listens.
     */
    readonly write: (entry: JournalEntry, news?: News) => Effect.Effect<boolean, StoreUnavailable>
    /** As `write`, for paths on which no fiber runs. */
    readonly append: (entry: JournalEntry, done: Written, news?: News) => void
    /** Notes that a run without a delivery has begun. Returns at once; follow it by `write` of its end. */
    readonly started: (run: Run) => void
    /** Counts a run of this node that was ended in the store by somebody else. */
    readonly ended: (run: Run) => void
  }
>()("@weft/core/runs/Journal") {
  static readonly layer = Layer.effect(
    Journal,
    Effect.gen(function* () {
      const store = yield* JournalStore
      const lease = yield* NodeLease
      const own = yield* OwnRuns
      const untold = yield* Untold
      const feed = yield* Feed
      const clock = yield* Clock.Clock
      const metrics = yield* NodeMetrics
      const meter = new JournalMeter()
      metrics.register(Effect.sync(() => meter.read()))
      const wake = Latch.makeUnsafe(false)
      let pending: Array<Write> = []
      untold.waiting(() => (pending[0] === undefined ? null : happenedAt(pending[0].entry)))
      /** Commits under way, and the entries in them. */
      let commits = 0
      let committing = 0
      const starting = new Roster<RunId, Run>()
      const startWake = Latch.makeUnsafe(false)

      const isDue = () => commits === 0 || (commits < store.commitsMax && pending.length >= committing * besideShare)
      const push = (write: Write) => {
        pending.push(write)
        if (isDue()) wake.openUnsafe()
      }

      /** The next batch, if it is time for one; else the commits that end, or what comes, wake the loops again. */
      const take = (): ReadonlyArray<Write> => {
        const batch = isDue() ? pending.splice(0, batchMax) : []
        if (pending.length === 0 || batch.length === 0) wake.closeUnsafe()
        return batch
      }

      const append = (entry: JournalEntry, news: News, done: Written) => {
        const isStartTold = entry._tag !== "Ended" || !starting.delete(entry.run.run_id)
        push({ entry, news, isStartTold, done })
      }

      const commit = Effect.fnUntraced(function* (batch: ReadonlyArray<Write>) {
        const due = lease.due(yield* currentTime)
        const began = clock.currentTimeNanosUnsafe()
        const entries = batch.map((write) => write.entry)
        // They may have waited for a while.
        const exit = yield* Effect.exit(untold.during(store.commit(entries, due), oldestOf(entries)))
        if (Exit.isSuccess(exit)) {
          meter.committed(batch.length, Number(clock.currentTimeNanosUnsafe() - began) / 1e9)
          if (due !== null) lease.renewed(due)
          const counted = exit.value
          if (feed.isHeard()) {
            yield* feed.publish(batch.flatMap((write, index) => (counted[index] === true ? activityOf(write) : [])))
          }
          for (const [index, write] of batch.entries()) {
            if (counted[index] === true) meter.wrote(write.entry)
            write.done(Exit.succeed(counted[index] === true))
          }
        } else {
          own.doubt()
          const failed = Exit.failCause(exit.cause)
          // What came meanwhile would wait as long again to hear the same.
          const behind = Cause.hasFails(exit.cause) ? pending : []
          if (behind.length > 0) {
            pending = []
            wake.closeUnsafe()
          }
          for (const write of [...batch, ...behind]) write.done(failed)
        }
      })

      const commitLoop = Effect.forever(
        Effect.gen(function* () {
          yield* wake.await
          // One turn of the event loop lets everything that arrives together share the commit.
          yield* Effect.yieldNow
          const batch = take()
          if (batch.length === 0) return
          commits++
          committing += batch.length
          yield* Effect.ensuring(
            commit(batch),
            Effect.sync(() => {
              commits--
              committing -= batch.length
              if (pending.length > 0) wake.openUnsafe()
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
            push({ entry: { _tag: "Started", run }, news: noNews, isStartTold: true, done: ignore })
          }
          if (starting.size === 0) startWake.closeUnsafe()
        })
      )

      for (let loops = 0; loops < store.commitsMax; loops++) yield* Effect.forkScoped(commitLoop)
      yield* Effect.forkScoped(startLoop)

      return Journal.of({
        write: (entry, news = noNews) => Effect.callback((resume) => append(entry, news, resume)),
        append: (entry, done, news = noNews) => append(entry, news, done),
        started: (run) => {
          starting.set(run.run_id, run)
          if (starting.size === 1) startWake.openUnsafe()
        },
        ended: (run) => meter.ended(run)
      })
    })
  )
}

/** What is told beside what an entry says itself. */
export type News = () => ReadonlyArray<Activity>

const noNews: News = () => []

interface Write {
  readonly entry: JournalEntry
  readonly news: News
  /** False for the end of a run that was over before its start was written. */
  readonly isStartTold: boolean
  readonly done: Written
}

/** Is told whether an entry counted, once it is durable. */
export type Written = (exit: Exit.Exit<boolean, StoreUnavailable>) => void

/** Since when has happened what the entries tell of; undefined where there are none. */
const oldestOf = (entries: ReadonlyArray<JournalEntry>): Timestamp | undefined =>
  entries.reduce<Timestamp | undefined>((oldest, entry) => {
    const at = happenedAt(entry)
    return oldest === undefined || at < oldest ? at : oldest
  }, undefined)

const happenedAt = (entry: JournalEntry): Timestamp =>
  entry._tag === "Appended" ? entry.event.created_at : (entry.run.stop_time ?? entry.run.start_time)

/** A `Started` that could not be written loses nothing: `Ended` stores the run whole. */
const ignore = () => {}

const activityOf = ({ entry, news, isStartTold }: Write): ReadonlyArray<Activity> => {
  switch (entry._tag) {
    case "Appended":
      return [...news(), ...entry.deliveries.flatMap(({ run }) => (run === null ? [] : [runActivity(run)]))]
    case "Started":
      return startActivity(entry.run)
    case "Ended":
      return isStartTold ? [runActivity(entry.run)] : [...startActivity(entry.run), runActivity(entry.run)]
    case "Settled":
      return [runActivity(entry.run), ...news()]
  }
}

/** What the feed says of whatever a run does. */
export const runFactsOf = (run: Run) => ({
  env_id: run.env_id,
  run_id: run.run_id,
  stream_id: run.stream_id,
  run_type: run.run_type,
  project_id: run.project_id,
  project_name: run.project_name
})

/** What the feed says when a run without a delivery begins. Without an event, it is the first of its stream. */
const startActivity = (run: Run): ReadonlyArray<Activity> => {
  const { env_id, stream_id, event_id } = run
  const start = { type: "run:start" as const, ...runFactsOf(run) }
  return event_id === null ? [{ type: "stream:created", env_id, stream_id }, start] : [start]
}

/** What the feed says about a run in its present state. */
export const runActivity = (run: Run): Activity => {
  const facts = runFactsOf(run)
  return run.status === "running" || run.result === null
    ? { type: "run:start", ...facts }
    : { type: activityTypes[run.status], ...facts, result: run.result }
}

const activityTypes = { succeeded: "run:stop", failed: "run:fail", cancelled: "run:cancel" } as const
