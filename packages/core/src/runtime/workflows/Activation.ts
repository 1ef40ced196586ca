/**
 * One stay of a durable run in an isolate: from its claim until it ends or has nothing to do but wait.
 *
 * The function runs from its first line. It receives the recorded results first, in their order, without host calls. From
 * then on each of its requests is a host call, and the answer is the result:
 *
 * - A step is answered after its result is durable. Steps that end while a commit is in flight share the next one.
 * - The end of a wait is answered at once, because the store can decide again that it has ended. The next commit records it.
 *   While a commit is in flight it queues, because positions follow the order in which the function receives results.
 *
 * When the guest is idle, the run is suspended, unless a wait ends within `holdMs`.
 *
 * A cancellation with cleanup is a result without a request. The guest asks for it before its first other host call.
 */
import { Deferred, Effect, Random } from "effect"
import { toJsonText } from "../../foundation/JsonText.ts"
import { addMillis, now as currentTime, type Timestamp } from "../../foundation/time/Timestamp.ts"
import { type HostCall, HostCallRefused } from "../../platform/sandbox/Sandbox.ts"
import { retryDelayMs } from "../../resources/builds/RetryPolicy.ts"
import { isTooLargeOutcome } from "../runs/EventMatch.ts"
import {
  cancelSeq,
  describeWaits,
  formatWaiting,
  type StepRecord,
  type Waiting,
  type WaitRecord
} from "../runs/Workflow.ts"
import { type ActivationOptions, type Advanced, toAdvanced } from "./ActivationOptions.ts"
import { cancelRecord, cancelWait } from "./Cancellation.ts"
import { HistorySize } from "./HistorySize.ts"
import { formatResult, formatRetry } from "./Replay.ts"
import { formatError, refuse, tooLarge } from "./RequestErrors.ts"
import { describeDifference, earliestEnd, hasEnded } from "./RequestRules.ts"
import { decodeIdle, decodeStep, decodeWait, type StepReport, type WaitRequest } from "./Requests.ts"

/** Longest wait for which the isolate is kept, in milliseconds. */
const holdMs = 1_000

interface OpenWait {
  readonly record: WaitRecord
  readonly answered: Deferred.Deferred<string, HostCallRefused>
}

/** A result that is queued for the next commit. */
interface QueuedResult {
  readonly step: Omit<StepRecord, "position">
  readonly answered: Deferred.Deferred<string, HostCallRefused>
}

export class Activation {
  readonly #options: ActivationOptions
  /** Waits of the run that have not ended, by `seq`. Those of the history are opened when the function requests them. */
  readonly #waits: Map<number, WaitRecord>
  readonly #open = new Map<number, OpenWait>()
  readonly #size: HistorySize
  #position: number
  /** Waits that are not stored yet. */
  #newWaits: Array<WaitRecord> = []
  /** Results that the function has received but that are not stored. */
  #unstored: Array<StepRecord> = []
  #queued: Array<QueuedResult> = []
  #isCommitting = false
  /** True after a write that did not count. Then no later one may count either, because its results would be missing. */
  #isRefused = false
  /** Calls of the guest for requests, and answers to them. */
  #calls = 0
  #answers = 0
  /** Answers that the guest had received when it last reported that it can do nothing until a wait ends. */
  #idleAnswers = -1
  /** Waits whose timeout has ended, until the events before it are known. */
  readonly #expiring = new Set<number>()
  #suspension: Advanced | null = null
  #cleanupUntil: Timestamp | null
  #isCancelRecorded: boolean
  /** The request of the guest for its cancellation. */
  #cancellation: QueuedResult["answered"] | null = null
  #isStored = false
  #isLive = false

  constructor(options: ActivationOptions) {
    this.#options = options
    this.#cleanupUntil = options.cleanupUntil
    this.#isCancelRecorded = options.history.steps.some(({ seq }) => seq === cancelSeq)
    this.#position = options.history.steps.length
    this.#size = new HistorySize(options.history, options.limits)
    this.#waits = new Map(options.history.waits.map((wait) => [wait.seq, wait]))
  }

  /** The entry that suspends the run, once the activation has decided to; null before. Its logs are empty. */
  get suspension(): Advanced | null {
    return this.#suspension
  }

  /** End of the requested cleanup; null without one. */
  get cleanupUntil(): Timestamp | null {
    return this.#cleanupUntil
  }

  /** True if the activation has stored, or is to store, a new result or wait. */
  get hasProgress(): boolean {
    return this.#isStored || this.#unstored.length + this.#newWaits.length > 0
  }

  /** True if the function has received all recorded results, and continued. */
  get isLive(): boolean {
    return this.#isLive
  }

  /** Returns an entry with the progress that is not stored yet, at the end of the activation; null without any. */
  trailing(at: Timestamp): Advanced | null {
    if (this.#isRefused || this.#unstored.length + this.#newWaits.length === 0) return null
    return toAdvanced(this.#options.claim, at, [...this.#unstored], [...this.#newWaits], null)
  }

  /** Answers a host call `workflow.*`. */
  answer(call: HostCall): Effect.Effect<string, HostCallRefused> {
    this.#isLive = true
    switch (call.op) {
      case "workflow.step":
        return this.#counted(Effect.flatMap(decodeStep(call.payload), (report) => this.#endAttempt(report)))
      case "workflow.wait":
        return this.#counted(
          Effect.flatMap(currentTime, (now) =>
            Effect.flatMap(decodeWait(call.payload, now), (request) => this.#wait(request, now))
          )
        )
      case "workflow.idle":
        return Effect.flatMap(decodeIdle(call.payload), ({ answers, from = 0 }) =>
          Effect.as(this.#idle(answers, from), "")
        )
      case "workflow.cancellation":
        return this.#awaitCancellation
      default:
        return Effect.fail(new HostCallRefused({ name: "TypeError", message: "There is no such host call" }))
    }
  }

  /** Counts a call and its answer. */
  #counted<A, E>(answer: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.suspend(() => {
      this.#calls++
      return Effect.ensuring(
        answer,
        Effect.sync(() => {
          this.#answers++
        })
      )
    })
  }

  /**
   * True if the guest can do nothing until it receives a result: it has received all answers, and none is on its way. A
   * report that crossed an answer does not count; the guest sends another one.
   */
  get #isIdle(): boolean {
    return this.#idleAnswers === this.#answers && this.#calls - this.#answers === this.#open.size
  }

  /** Gives events that arrived to the waits of this activation. `stored` are the waits as the store has them. */
  receive(stored: ReadonlyArray<WaitRecord>): Effect.Effect<void> {
    return Effect.flatMap(currentTime, (now) =>
      Effect.forEach(
        stored.filter(({ outcome }) => outcome !== null),
        (wait) => {
          this.#waits.set(wait.seq, wait)
          const open = this.#open.get(wait.seq)
          return open === undefined ? Effect.void : this.#endWait({ ...open, record: wait }, now)
        },
        { discard: true }
      )
    )
  }

  /** Cancels the run. Its function may clean up until `until`, when its guest is stopped. */
  cancel(until: Timestamp): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      if (this.#cleanupUntil !== null) return
      this.#cleanupUntil = until
      const ms = Math.max(0, until - (yield* currentTime))
      yield* Effect.forkDetach(Effect.delay(Effect.sync(this.#options.stop), ms))
      yield* this.#deliverCancellation
    })
  }

  get #awaitCancellation(): Effect.Effect<string, HostCallRefused> {
    return Effect.gen({ self: this }, function* () {
      this.#cancellation = yield* Deferred.make<string, HostCallRefused>()
      yield* this.#deliverCancellation
      return yield* Deferred.await(this.#cancellation)
    })
  }

  /** Records the cancellation once, when the guest has asked for it. */
  get #deliverCancellation(): Effect.Effect<void> {
    return Effect.flatMap(currentTime, (now) => {
      if (this.#cleanupUntil === null || this.#cancellation === null || this.#isCancelRecorded) return Effect.void
      this.#isCancelRecorded = true
      // The guest counts it as an answer, so that an earlier report of idleness is stale.
      this.#calls++
      this.#answers++
      const step = cancelRecord(now)
      this.#size.add(step.result)
      this.#queued.push({ step, answered: this.#cancellation })
      return this.#isCommitting ? Effect.void : this.#deliver(this.#takeQueued())
    })
  }

  /** Handles the end of an attempt at a step: another attempt, now or later, or its result. */
  #endAttempt(report: StepReport): Effect.Effect<string, HostCallRefused> {
    return Effect.gen({ self: this }, function* () {
      const { seq, name, ok, attempt, result, ms } = report
      const { claim, limits } = this.#options
      const now = yield* currentTime
      const difference = describeDifference(this.#waits.get(seq), { kind: "step", name })
      if (difference !== null) return yield* refuse("NonDeterminism", difference)
      const full = this.#size.checkResults()
      if (full !== null) return yield* refuse("LimitExceeded", full)
      const policy = report.retry ?? claim.delivery.retry
      if (!ok && attempt < policy.attempts) {
        const until = addMillis(now, report.afterMs ?? retryDelayMs(policy, attempt, yield* Random.next))
        return yield* this.#pause({ seq, name, attempts: attempt, until }, now)
      }
      const isTooLarge = (result?.length ?? 0) > limits.resultLength
      const step = {
        ...({ seq, kind: "step", name, attempts: attempt, ended_at: now } as const),
        started_at: addMillis(now, -Math.min(Math.max(0, ms), now - claim.run.start_time)),
        ok: ok && !isTooLarge,
        result: isTooLarge ? tooLarge(`the result of the step "${name}"`, limits) : result
      }
      const exceeded = this.#size.add(step.result)
      if (exceeded === null) return yield* this.#record(step)
      return yield* this.#record({ ...step, ok: false, result: formatError("LimitExceeded", exceeded) })
    })
  }

  /** Waits until the next attempt at a step. */
  #pause(
    { seq, name, attempts, until }: Pick<WaitRecord, "seq" | "name" | "attempts"> & { readonly until: Timestamp },
    now: Timestamp
  ): Effect.Effect<string, HostCallRefused> {
    const record: WaitRecord = {
      ...{ seq, kind: "step", name, attempts, since: now, until },
      ...{ event_type: null, match: null, outcome: null }
    }
    if (until <= now) return Effect.succeed(formatRetry(seq, now))
    return this.#openWait(record, true)
  }

  #wait(request: WaitRequest, now: Timestamp): Effect.Effect<string, HostCallRefused> {
    return Effect.suspend(() => {
      const known = this.#waits.get(request.seq)
      const difference = describeDifference(known, request)
      if (difference !== null) return refuse("NonDeterminism", difference)
      if (known !== undefined) return this.#openWait(known, false)
      if (request.kind === "step") return refuse("TypeError", "svc.step: this attempt does not wait for another one")
      const { run } = this.#options.claim
      const open = [...this.#open.values()].map(({ record }) => record)
      const full = this.#size.checkResults(open.length)
      if (full !== null) return refuse("LimitExceeded", full)
      const exceeded = request.kind === "event" ? this.#size.checkEventWaits(open) : null
      if (exceeded !== null) return this.#failWait(request, exceeded, now)
      return this.#openWait(
        {
          ...{ seq: request.seq, kind: request.kind, name: request.name, attempts: 0, outcome: null },
          ...{ event_type: request.event_type, until: request.until },
          since: request.fromStart ? run.start_time : now,
          match: request.match.length === 0 ? null : toJsonText(request.match)
        },
        true
      )
    })
  }

  /** Records that a wait failed: in a replay, fewer waits may be open. */
  #failWait({ seq, kind, name }: WaitRequest, message: string, now: Timestamp): Effect.Effect<string, HostCallRefused> {
    return Effect.gen({ self: this }, function* () {
      const result = formatError("LimitExceeded", message)
      this.#size.add(result)
      const answered = yield* Deferred.make<string, HostCallRefused>()
      const times = { attempts: 1, started_at: now, ended_at: now }
      this.#queued.push({ step: { seq, kind, name, ok: false, result, ...times }, answered })
      if (!this.#isCommitting) yield* this.#deliver(this.#takeQueued())
      return yield* Deferred.await(answered)
    })
  }

  /** Opens a wait and waits for its end. A new wait for an event is stored at once, so that it takes events. */
  #openWait(record: WaitRecord, isNew: boolean): Effect.Effect<string, HostCallRefused> {
    return Effect.gen({ self: this }, function* () {
      const answered = yield* Deferred.make<string, HostCallRefused>()
      const open = { record, answered }
      this.#waits.set(record.seq, record)
      this.#open.set(record.seq, open)
      if (isNew) {
        this.#forgetNewWait(record.seq)
        this.#newWaits.push(record)
        if (record.event_type !== null) yield* this.#flushSoon
      }
      const now = yield* currentTime
      if (hasEnded(record, now)) yield* this.#endDueWait(open, now)
      return yield* Deferred.await(answered)
    })
  }

  /** Ends an open wait: the function receives its result, now or after the commit in flight. */
  #endWait({ record, answered }: OpenWait, now: Timestamp): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { seq, kind, name, outcome, since, attempts } = record
      // A suspended run continues with the results that are stored.
      if (this.#suspension !== null || !this.#open.delete(seq)) return Effect.void
      if (kind === "step") return Effect.asVoid(Deferred.succeed(answered, formatRetry(seq, now)))
      const { limits } = this.#options
      const isTooLarge = isTooLargeOutcome(outcome)
      const event = isTooLarge ? tooLarge(`the event of the wait "${name}"`, limits) : (outcome ?? toJsonText(null))
      const taken = kind === "event" ? event : null
      const exceeded = this.#size.add(taken)
      this.#queued.push({
        step: {
          ...{ seq, kind, name, ok: !isTooLarge && exceeded === null },
          result: exceeded === null ? taken : formatError("LimitExceeded", exceeded),
          attempts: Math.max(1, attempts),
          started_at: since,
          ended_at: now
        },
        answered
      })
      return this.#isCommitting ? Effect.void : this.#deliver(this.#takeQueued())
    })
  }

  /** Records the result of a step, and answers after the commit. */
  #record(step: Omit<StepRecord, "position">): Effect.Effect<string, HostCallRefused> {
    return Effect.gen({ self: this }, function* () {
      const answered = yield* Deferred.make<string, HostCallRefused>()
      this.#queued.push({ step, answered })
      yield* this.#flushSoon
      return yield* Deferred.await(answered)
    })
  }

  /** Begins a commit unless one is in flight, which a further one follows then. */
  get #flushSoon(): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.#isCommitting) return Effect.void
      this.#isCommitting = true
      return Effect.asVoid(Effect.forkDetach(this.#flush))
    })
  }

  get #flush(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      while (true) {
        // Steps that end in the same turn of the guest share the commit.
        yield* Effect.yieldNow
        const taken = this.#takeQueued()
        const waits = this.#newWaits
        this.#newWaits = []
        if (taken.length + waits.length === 0) break
        const steps = [...this.#unstored, ...taken.map(({ step }) => step)]
        this.#unstored = []
        const isCounted = yield* this.#options.write(yield* this.#entry(steps, waits, null))
        if (!isCounted) {
          this.#isRefused = true
          return this.#options.stop()
        }
        this.#isStored = true
        yield* this.#options.onStored(waits)
        for (const { step, answered } of taken) {
          this.#waits.delete(step.seq)
          yield* Deferred.succeed(answered, formatResult(step))
        }
      }
      this.#isCommitting = false
      if (this.#isIdle) yield* this.#suspendOrHold
    })
  }

  /** Answers the ends of waits. The next commit records them. */
  #deliver(taken: ReadonlyArray<{ readonly step: StepRecord; readonly answered: QueuedResult["answered"] }>) {
    return Effect.forEach(
      taken,
      ({ step, answered }) => {
        this.#waits.delete(step.seq)
        this.#forgetNewWait(step.seq)
        this.#unstored.push(step)
        return Deferred.succeed(answered, formatResult(step))
      },
      { discard: true }
    )
  }

  #forgetNewWait(seq: number): void {
    this.#newWaits = this.#newWaits.filter((wait) => wait.seq !== seq)
  }

  #entry(
    steps: ReadonlyArray<StepRecord>,
    waits: ReadonlyArray<WaitRecord>,
    suspended: { readonly due_at: Timestamp; readonly waiting: Waiting } | null
  ): Effect.Effect<Advanced> {
    const rest = { cleanup_until: this.#cleanupUntil, logs: [] }
    const suspension = suspended && { due_at: suspended.due_at, waiting: formatWaiting(suspended.waiting), ...rest }
    return Effect.map(currentTime, (at) => toAdvanced(this.#options.claim, at, steps, waits, suspension))
  }

  #takeQueued() {
    const taken = this.#queued.map(({ step, answered }) => ({
      step: { position: this.#position++, ...step },
      answered
    }))
    this.#queued = []
    return taken
  }

  /** Handles the message that the guest can do nothing until it receives a result. Requests before `from` were cancelled. */
  #idle(answers: number, from: number): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      this.#idleAnswers = answers
      const now = yield* currentTime
      for (const wait of [...this.#waits.values()].filter(({ seq }) => seq >= 0 && seq < from)) {
        const step = { position: this.#position++, ...cancelWait(wait, now) }
        this.#size.add(step.result)
        const open = this.#open.get(wait.seq)
        this.#open.delete(wait.seq)
        // The guest ignores the answer, so it may precede others.
        yield* this.#deliver([{ step, answered: open?.answered ?? (yield* Deferred.make<string, HostCallRefused>()) }])
      }
      yield* this.#suspendOrHold
    })
  }

  /** Holds the isolate for a wait that ends soon; otherwise suspends the run. */
  get #suspendOrHold(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      if (!this.#isIdle || this.#isCommitting || this.#queued.length > 0 || this.#expiring.size > 0) return
      if (this.#suspension !== null) return
      const now = yield* currentTime
      const waits = [...this.#open.values()].map(({ record }) => record)
      const next = earliestEnd(waits)
      if (next !== null && next - now <= holdMs) {
        yield* Effect.sleep(Math.max(0, next - now))
        yield* this.#endDue
        // Nothing has ended if the clock was set back.
        return yield* this.#suspendOrHold
      }
      const deadline = Math.min(this.#options.deadline, this.#cleanupUntil ?? Number.POSITIVE_INFINITY)
      const waiting = describeWaits(waits)
      if (waiting === null) return
      const suspended = { due_at: addMillis(now, Math.min(next ?? deadline, deadline) - now), waiting }
      this.#suspension = yield* this.#entry([...this.#unstored], [...this.#newWaits], suspended)
      this.#options.stop()
    })
  }

  /** Ends all open waits whose time has come, in the order of their times. */
  get #endDue(): Effect.Effect<void> {
    return Effect.flatMap(currentTime, (now) => {
      const due = [...this.#open.values()].filter(({ record }) => hasEnded(record, now))
      due.sort((a, b) => (a.record.until ?? now) - (b.record.until ?? now) || a.record.seq - b.record.seq)
      return Effect.forEach(due, (open) => this.#endDueWait(open, now), { discard: true })
    })
  }

  /** Ends a wait whose time has come. A wait for an event first takes one that was stored in time. */
  #endDueWait(open: OpenWait, now: Timestamp): Effect.Effect<void> {
    const { record } = open
    if (record.event_type === null || record.outcome !== null) return this.#endWait(open, now)
    if (this.#expiring.has(record.seq)) return Effect.void
    this.#expiring.add(record.seq)
    return Effect.gen({ self: this }, function* () {
      const outcome = yield* this.#options.expire(record)
      this.#expiring.delete(record.seq)
      yield* this.#endWait({ ...open, record: { ...record, outcome } }, yield* currentTime)
    }).pipe(Effect.forkDetach, Effect.asVoid)
  }
}
