/**
 * One stay of a durable run in an isolate: from its claim until it ends or has nothing to do but wait.
 *
 * The function runs from its first line. It receives the recorded results first, in their order, without host calls. From
 * then on each of its requests is a host call, and the answer is the result.
 *
 * See `Progress` for when they are stored and answered.
 *
 * When the guest is idle, the run is suspended, unless a wait ends within `holdMs`.
 *
 * A cancellation with cleanup is a result without a request. The guest asks for it before its first other host call.
 */
import { Deferred, Effect, Random } from "effect"
import type { JsonText } from "../../foundation/JsonText.ts"
import { addMillis, now as currentTime, type Timestamp } from "../../foundation/time/Timestamp.ts"
import { type HostCall, HostCallRefused } from "../../platform/sandbox/Sandbox.ts"
import { retryDelayMs } from "../../resources/builds/RetryPolicy.ts"
import type { RunLogWriter } from "../execution/Executor.ts"
import {
  cancelSeq,
  describeWaits,
  formatWaiting,
  type Waiting,
  type WaitRecord
} from "../runs/Workflow.ts"
import { type ActivationOptions, type Advanced, toAdvanced } from "./ActivationOptions.ts"
import { cancelRecord, cancelWait } from "./Cancellation.ts"
import { type Answer, Progress } from "./Progress.ts"
import { formatRetry } from "./Replay.ts"
import { describeDifference, earliestEnd, endsByTime, hasEnded, toEnd, toPause, toWait } from "./RequestRules.ts"
import {
  decodeIdle,
  decodeStep,
  decodeToken,
  decodeWait,
  type StepReport,
  type TokenRequest,
  type WaitRequest
} from "./Requests.ts"
import { isTooLarge, StepLimit, tooLarge } from "./WorkflowLimits.ts"

/** Longest wait for which the isolate is kept, in milliseconds. */
const holdMs = 1_000

interface OpenWait {
  readonly record: WaitRecord
  readonly answered: Answer
}

export class Activation {
  readonly #options: ActivationOptions
  /** Waits of the run that have not ended, by `seq`. Those of the history are opened when the function requests them. */
  readonly #waits: Map<number, WaitRecord>
  readonly #open = new Map<number, OpenWait>()
  readonly #progress: Progress
  readonly #stepLimit: StepLimit
  #log: RunLogWriter | null = null
  /** Calls of the guest for requests, and answers to them. */
  #calls = 0
  #answers = 0
  /** Answers that the guest had received when it last reported that it can do nothing until a wait ends. */
  #idleAnswers = -1
  /** Waits whose timeout has ended, until the outcomes before it are known. */
  readonly #expiring = new Set<number>()
  #suspension: Advanced | null = null
  #cleanupUntil: Timestamp | null
  #isCancelRecorded: boolean
  /** The request of the guest for its cancellation. */
  #cancellation: Answer | null = null
  #isLive = false

  constructor(options: ActivationOptions) {
    this.#options = options
    this.#cleanupUntil = options.cleanupUntil
    this.#isCancelRecorded = options.history.steps.some(({ seq }) => seq === cancelSeq)
    const position = options.history.steps.length
    this.#stepLimit = new StepLimit(options.limits, position)
    this.#progress = new Progress({
      ...{ position, onStored: options.onStored, onRefused: options.stop },
      write: (steps, waits) => Effect.flatMap(this.#entry({ steps, waits }, null), options.write),
      toResult: (step) => {
        this.#waits.delete(step.seq)
        return options.tokens.reveal(step)
      },
      onCommitted: Effect.suspend(() => this.#suspendOrHold)
    })
    this.#waits = new Map(options.history.waits.map((wait) => [wait.seq, wait]))
  }

  /** Begins the activation. The log is that of its guest. */
  begin(log: RunLogWriter): void {
    this.#log = log
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
    return this.#progress.hasAny
  }

  /** True if the function has received all recorded results, and continued. */
  get isLive(): boolean {
    return this.#isLive
  }

  /** Returns an entry with the progress that is not stored yet, at the end of the activation; null without any. */
  trailing(at: Timestamp): Advanced | null {
    const { trailing } = this.#progress
    return trailing && toAdvanced(this.#options.claim, at, trailing.steps, trailing.waits, null)
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
      case "workflow.token":
        return this.#counted(
          Effect.flatMap(currentTime, (now) =>
            Effect.flatMap(decodeToken(call.payload, now), (request) => this.#createToken(request, now))
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

  /** Gives outcomes to the waits of this activation that have not ended. `stored` are the waits as the store has them. */
  receive(stored: ReadonlyArray<WaitRecord>): Effect.Effect<void> {
    return Effect.flatMap(currentTime, (now) =>
      Effect.forEach(
        stored.filter(({ seq, outcome }) => outcome !== null && this.#waits.has(seq)),
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
      return this.#progress.recordEnd(cancelRecord(now), this.#cancellation)
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
      yield* this.#admitStep
      const policy = report.retry ?? claim.delivery.retry
      if (!ok && attempt < policy.attempts) {
        const until = addMillis(now, report.afterMs ?? retryDelayMs(policy, attempt, yield* Random.next))
        return yield* this.#pause({ seq, name, attempts: attempt, until }, now)
      }
      const isOver = isTooLarge(result, limits)
      const step = {
        ...({ seq, kind: "step", name, attempts: attempt, ended_at: now } as const),
        started_at: addMillis(now, -Math.min(Math.max(0, ms), now - claim.run.start_time)),
        ok: ok && !isOver,
        result: isOver ? tooLarge(name, limits) : this.#maskError(ok, result)
      }
      return yield* this.#progress.record(step)
    })
  }

  /** Masks secrets in the error of a step, as in that of a run. */
  #maskError(ok: boolean, result: JsonText | null): JsonText | null {
    return ok || result === null || this.#log === null ? result : this.#log.mask(result)
  }

  get #admitStep(): Effect.Effect<void, HostCallRefused> {
    const { position, queued } = this.#progress
    return this.#stepLimit.admit(position, queued, (text) => this.#log?.warn(text))
  }

  #createToken(request: TokenRequest, now: Timestamp): Effect.Effect<string, HostCallRefused> {
    return Effect.gen({ self: this }, function* () {
      const { seq, name } = request
      const difference = describeDifference(this.#waits.get(seq), { kind: "token", name })
      if (difference !== null) return yield* refuse("NonDeterminism", difference)
      yield* this.#admitStep
      const result = yield* this.#options.tokens.create(request, now)
      if (result === null) {
        this.#options.stop()
        return yield* Effect.never
      }
      const times = { started_at: now, ended_at: now }
      return yield* this.#progress.record({ seq, kind: "token", name, attempts: 1, ...times, ok: true, result })
    })
  }

  /** Waits until the next attempt at a step. */
  #pause(pause: Parameters<typeof toPause>[0], now: Timestamp): Effect.Effect<string, HostCallRefused> {
    if (pause.until <= now) return Effect.succeed(formatRetry(pause.seq, now))
    return this.#openWait(toPause(pause, now), true)
  }

  #wait(request: WaitRequest, now: Timestamp): Effect.Effect<string, HostCallRefused> {
    return Effect.suspend(() => {
      const known = this.#waits.get(request.seq)
      const difference = describeDifference(known, request)
      if (difference !== null) return refuse("NonDeterminism", difference)
      if (known !== undefined) return this.#openWait(known, false)
      if (request.kind === "step") return refuse("TypeError", "svc.step: this attempt does not wait for another one")
      const { claim, tokens } = this.#options
      const token = request.token_seq === null ? null : tokens.find(request.token_seq)
      if (token === undefined) return refuse("TypeError", "svc.waitForToken: this run has no such token")
      const since = request.fromStart ? claim.run.start_time : now
      const until = token === null ? request.until : token.expires_at
      return Effect.andThen(this.#admitStep, this.#openWait(toWait({ ...request, until }, since), true))
    })
  }

  /** Opens a wait and waits for its end. */
  #openWait(record: WaitRecord, isNew: boolean): Effect.Effect<string, HostCallRefused> {
    return Effect.gen({ self: this }, function* () {
      const answered = yield* Deferred.make<string, HostCallRefused>()
      const open = { record, answered }
      this.#waits.set(record.seq, record)
      this.#open.set(record.seq, open)
      if (isNew) yield* this.#progress.addWait(record)
      const now = yield* currentTime
      if (hasEnded(record, now)) yield* this.#endDueWait(open, now)
      return yield* Deferred.await(answered)
    })
  }

  /** Ends an open wait: the function receives its result, now or after the commit in flight. */
  #endWait({ record, answered }: OpenWait, now: Timestamp): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { seq, kind } = record
      // A suspended run continues with the results that are stored.
      if (this.#suspension !== null || !this.#open.delete(seq)) return Effect.void
      if (kind === "step") return Effect.asVoid(Deferred.succeed(answered, formatRetry(seq, now)))
      return this.#progress.recordEnd(toEnd(record, now), answered)
    })
  }

  #entry(
    { steps, waits }: Progress["unstored"],
    suspended: { readonly due_at: Timestamp; readonly waiting: Waiting } | null
  ): Effect.Effect<Advanced> {
    const rest = { cleanup_until: this.#cleanupUntil, logs: [] }
    const suspension = suspended && { due_at: suspended.due_at, waiting: formatWaiting(suspended.waiting), ...rest }
    return Effect.map(currentTime, (at) => toAdvanced(this.#options.claim, at, steps, waits, suspension))
  }

  /** Handles the message that the guest can do nothing until it receives a result. Requests before `from` were cancelled. */
  #idle(answers: number, from: number): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      this.#idleAnswers = answers
      const now = yield* currentTime
      for (const wait of [...this.#waits.values()].filter(({ seq }) => seq >= 0 && seq < from)) {
        const open = this.#open.get(wait.seq)
        this.#open.delete(wait.seq)
        const answered = open?.answered ?? (yield* Deferred.make<string, HostCallRefused>())
        yield* this.#progress.recordIgnored(cancelWait(wait, now), answered)
      }
      yield* this.#suspendOrHold
    })
  }

  /** Holds the isolate for a wait that ends soon; otherwise suspends the run. */
  get #suspendOrHold(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      if (!this.#isIdle || this.#progress.isBusy || this.#expiring.size > 0) return
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
      this.#suspension = yield* this.#entry(this.#progress.unstored, suspended)
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

  /** Ends a wait whose time has come. One for an event or a token first takes an outcome that was stored in time. */
  #endDueWait(open: OpenWait, now: Timestamp): Effect.Effect<void> {
    const { record } = open
    if (endsByTime(record) || record.outcome !== null) return this.#endWait(open, now)
    if (this.#expiring.has(record.seq)) return Effect.void
    this.#expiring.add(record.seq)
    return Effect.gen({ self: this }, function* () {
      const outcome = yield* this.#options.expire(record)
      this.#expiring.delete(record.seq)
      yield* this.#endWait({ ...open, record: { ...record, outcome } }, yield* currentTime)
    }).pipe(Effect.forkDetach, Effect.asVoid)
  }
}

const refuse = (name: string, message: string) => Effect.fail(new HostCallRefused({ name, message }))
