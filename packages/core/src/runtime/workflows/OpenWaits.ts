/**
 * The waits of an activation: those that its function has requested are open until they end.
 *
 * A wait ends when its outcome arrives or its time has come. The function then receives the result. The next commit records
 * it.
 */
import { Deferred, Effect } from "effect"
import type { EventId } from "../../foundation/Ids.ts"
import type { JsonText } from "../../foundation/JsonText.ts"
import { now as currentTime, type Timestamp } from "../../foundation/time/Timestamp.ts"
import type { HostCallRefused } from "../../platform/sandbox/Sandbox.ts"
import type { WaitRecord } from "../runs/Workflow.ts"
import type { ActivationOptions } from "./ActivationOptions.ts"
import { cancelWait } from "./Cancellation.ts"
import type { Answer, Progress } from "./Progress.ts"
import { formatRetry } from "./Replay.ts"
import { endsByTime, hasEnded, toEnd } from "./RequestRules.ts"

interface PendingWait {
  readonly record: WaitRecord
  readonly answered: Answer
}

interface OpenWaitsOptions extends Pick<ActivationOptions, "expire" | "abandonChild"> {
  readonly waits: ReadonlyArray<WaitRecord>
  readonly progress: Progress
  /** True once the run is to be suspended. It continues with the results that are stored. */
  readonly isSuspended: () => boolean
  /** Executed after a wait was opened, which may be the last request that an idle guest waits for. */
  readonly onOpened: Effect.Effect<void>
  /** Executed when `isExpiring` may have become false. */
  readonly onExpired: Effect.Effect<void>
}

export class OpenWaits {
  readonly #options: OpenWaitsOptions
  /** Waits of the run that have not ended, by `seq`. Those of the history are opened when the function requests them. */
  readonly #waits: Map<number, WaitRecord>
  readonly #open = new Map<number, PendingWait>()
  /** Waits whose timeout has ended, until the outcomes before it are known. */
  readonly #expiring = new Set<number>()

  constructor(options: OpenWaitsOptions) {
    this.#options = options
    this.#waits = new Map(options.waits.map((wait) => [wait.seq, wait]))
  }

  /** Number of open waits. */
  get count(): number {
    return this.#open.size
  }

  /** The open waits. */
  get records(): ReadonlyArray<WaitRecord> {
    return [...this.#open.values()].map(({ record }) => record)
  }

  /** True while the outcome of a wait whose time has come is not known. */
  get isExpiring(): boolean {
    return this.#expiring.size > 0
  }

  /** Events of child runs that the function waits for. */
  get children(): ReadonlyArray<EventId> {
    return [...this.#waits.values()].flatMap(({ child_event_id }) => child_event_id ?? [])
  }

  /** Returns the wait of a request that has not ended; undefined without one. */
  find(seq: number): WaitRecord | undefined {
    return this.#waits.get(seq)
  }

  isOpen(seq: number): boolean {
    return this.#open.has(seq)
  }

  /** Forgets a wait whose result the function receives. */
  forget(seq: number): void {
    this.#waits.delete(seq)
  }

  /** Opens a wait and waits for its end. `onOpen` is executed unless the wait has ended. */
  open(record: WaitRecord, isNew: boolean, onOpen: Effect.Effect<void>): Effect.Effect<string, HostCallRefused> {
    return Effect.gen({ self: this }, function* () {
      const answered = yield* Deferred.make<string, HostCallRefused>()
      const open = { record, answered }
      this.#waits.set(record.seq, record)
      this.#open.set(record.seq, open)
      if (isNew) yield* this.#options.progress.addWait(record)
      const now = yield* currentTime
      if (hasEnded(record, now)) yield* this.#endDueWait(open, now)
      else yield* Effect.andThen(onOpen, this.#options.onOpened)
      return yield* Deferred.await(answered)
    })
  }

  /** Gives outcomes to the waits that have not ended. `stored` are the waits as the store has them. */
  receive(stored: ReadonlyArray<WaitRecord>): Effect.Effect<void> {
    return Effect.flatMap(currentTime, (now) =>
      Effect.forEach(
        stored.filter(({ seq, outcome }) => outcome !== null && this.#waits.has(seq)),
        (wait) => {
          this.#waits.set(wait.seq, wait)
          const open = this.#open.get(wait.seq)
          return open === undefined ? Effect.void : this.#end({ ...open, record: wait }, now)
        },
        { discard: true }
      )
    )
  }

  /** Ends an open wait with an outcome. */
  endWith(seq: number, outcome: JsonText): Effect.Effect<void> {
    return Effect.flatMap(currentTime, (now) => {
      const open = this.#open.get(seq)
      return open === undefined ? Effect.void : this.#end({ ...open, record: { ...open.record, outcome } }, now)
    })
  }

  /** Records that the waits before request `from` were cancelled, and cancels their child runs. */
  cancelBefore(from: number): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { progress, abandonChild } = this.#options
      const now = yield* currentTime
      for (const wait of [...this.#waits.values()].filter(({ seq }) => seq >= 0 && seq < from)) {
        const open = this.#open.get(wait.seq)
        this.#open.delete(wait.seq)
        const answered = open?.answered ?? (yield* Deferred.make<string, HostCallRefused>())
        // The function ignores the result.
        yield* progress.recordIgnored(cancelWait(wait, now), answered)
        if (wait.child_event_id !== null && wait.outcome === null) abandonChild(wait.child_event_id)
      }
    })
  }

  /** Ends all open waits whose time has come, in the order of their times. */
  get endDue(): Effect.Effect<void> {
    return Effect.flatMap(currentTime, (now) => {
      const due = [...this.#open.values()].filter(({ record }) => hasEnded(record, now))
      due.sort((a, b) => (a.record.until ?? now) - (b.record.until ?? now) || a.record.seq - b.record.seq)
      return Effect.forEach(due, (open) => this.#endDueWait(open, now), { discard: true })
    })
  }

  /** Ends a wait whose time has come. One for an event or a token first takes an outcome that was stored in time. */
  #endDueWait(open: PendingWait, now: Timestamp): Effect.Effect<void> {
    const { record } = open
    if (endsByTime(record) || record.outcome !== null) return this.#end(open, now)
    if (this.#expiring.has(record.seq)) return Effect.void
    this.#expiring.add(record.seq)
    return Effect.gen({ self: this }, function* () {
      const outcome = yield* this.#options.expire(record)
      this.#expiring.delete(record.seq)
      yield* this.#end({ ...open, record: { ...record, outcome } }, yield* currentTime)
      // The wait may have ended meanwhile. Then the guest, which is idle again, sends no further report.
      yield* this.#options.onExpired
    }).pipe(Effect.forkDetach, Effect.asVoid)
  }

  /** Ends an open wait: the function receives its result, now or after the commit in flight. */
  #end({ record, answered }: PendingWait, now: Timestamp): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { seq, kind, outcome, child_event_id } = record
      const { progress, isSuspended, abandonChild } = this.#options
      if (isSuspended() || !this.#open.delete(seq)) return Effect.void
      if (kind === "step") return Effect.asVoid(Deferred.succeed(answered, formatRetry(seq, now)))
      if (child_event_id !== null && outcome === null) abandonChild(child_event_id)
      return progress.recordEnd(toEnd(record, now), answered)
    })
  }
}
