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
import { Deferred, Effect, Random, type Schema } from "effect"
import type { EventId } from "../../foundation/Ids.ts"
import { type JsonText, toJsonText } from "../../foundation/JsonText.ts"
import { addMillis, now as currentTime, type Timestamp } from "../../foundation/time/Timestamp.ts"
import type { HostCall, HostCallRefused } from "../../platform/sandbox/Sandbox.ts"
import { retryDelayMs } from "../../resources/builds/RetryPolicy.ts"
import type { RunLogWriter } from "../execution/Executor.ts"
import { cancelSeq, describeWaits, formatWaiting, type Waiting, type WaitRecord } from "../runs/Workflow.ts"
import { type ActivationOptions, type Advanced, toAdvanced } from "./ActivationOptions.ts"
import { cancelRecord } from "./Cancellation.ts"
import type { FunctionCall } from "./DurableCalls.ts"
import { FunctionCalls } from "./FunctionCalls.ts"
import { GuestCalls } from "./GuestCalls.ts"
import { OpenWaits } from "./OpenWaits.ts"
import { type Answer, Progress } from "./Progress.ts"
import { formatRetry } from "./Replay.ts"
import { formatError, refuse } from "./RequestErrors.ts"
import { describeDifference, earliestEnd, toPause, toWait } from "./RequestRules.ts"
import {
  decodeArgs,
  decodeCall,
  decodeIdle,
  decodeStep,
  decodeToken,
  decodeVersion,
  decodeWait,
  type StepReport,
  type TokenRequest,
  type WaitRequest
} from "./Requests.ts"
import { checkEventWaits, isTooLarge, StepLimit, tooLarge } from "./WorkflowLimits.ts"

/** Longest wait for which the isolate is kept, in milliseconds. */
const holdMs = 1_000

export class Activation {
  readonly #options: ActivationOptions
  readonly #waits: OpenWaits
  readonly #progress: Progress
  readonly #stepLimit: StepLimit
  #log: RunLogWriter | null = null
  readonly #guestCalls = new GuestCalls()
  readonly #functionCalls: FunctionCalls
  #suspension: Advanced | null = null
  #cleanupUntil: Timestamp | null
  #isCancelRecorded: boolean
  /** The request of the guest for its cancellation. */
  #cancellation: Answer | null = null
  #isLive = false
  #renewal: ReadonlyArray<Schema.Json> | null = null

  constructor(options: ActivationOptions) {
    this.#options = options
    this.#cleanupUntil = options.cleanupUntil
    this.#isCancelRecorded = options.history.steps.some(({ seq }) => seq === cancelSeq)
    this.#stepLimit = new StepLimit(options.limits, options.history.steps.length)
    this.#functionCalls = new FunctionCalls(options)
    this.#progress = new Progress({
      ...{ history: options.history, limits: options.limits, onRefused: options.stop },
      onStored: (waits) =>
        Effect.andThen(
          options.onStored(waits),
          Effect.forEach(waits, (wait) => this.#startChild(wait), { discard: true })
        ),
      write: (steps, waits) => Effect.flatMap(this.#entry({ steps, waits }, null), options.write),
      toResult: (step) => {
        this.#waits.forget(step.seq)
        return options.tokens.reveal(step)
      },
      onCommitted: Effect.suspend(() => this.#suspendOrHold)
    })
    this.#waits = new OpenWaits({
      ...{ waits: options.history.waits, progress: this.#progress, isSuspended: () => this.#suspension !== null },
      ...{ expire: options.expire, abandonChild: options.abandonChild },
      onOpened: Effect.suspend(() =>
        this.#isGuestIdle ? Effect.asVoid(Effect.forkDetach(this.#suspendOrHold)) : Effect.void
      ),
      onExpired: Effect.suspend(() => this.#suspendOrHold)
    })
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

  /** The arguments of the next run, if the function continues as a new one. */
  get renewal(): ReadonlyArray<Schema.Json> | null {
    return this.#renewal
  }

  /** Events of child runs that the function waits for. */
  get children(): ReadonlyArray<EventId> {
    return this.#waits.children
  }

  /** Returns an entry with the progress that is not stored yet, at the end of the activation; null without any. */
  trailing(at: Timestamp): Advanced | null {
    const { trailing } = this.#progress
    return trailing && toAdvanced(this.#options.claim, at, trailing.steps, trailing.waits, null)
  }

  /** Answers a host call `workflow.*`. */
  answer(call: HostCall): Effect.Effect<string, HostCallRefused> {
    this.#isLive = true
    const { op, payload } = call
    const calls = this.#guestCalls
    switch (op) {
      case "workflow.step":
        return calls.count(Effect.flatMap(decodeStep(payload), (report) => this.#endAttempt(report)))
      case "workflow.wait":
        return calls.count(
          Effect.flatMap(currentTime, (now) =>
            Effect.flatMap(decodeWait(payload, now), (request) => this.#wait(request, now))
          )
        )
      case "workflow.token":
        return calls.count(
          Effect.flatMap(currentTime, (now) =>
            Effect.flatMap(decodeToken(payload, now), (request) => this.#createToken(request, now))
          )
        )
      case "workflow.call":
        return calls.count(
          Effect.flatMap(decodeCall(payload), ({ seq, name, ...request }) => this.#call(seq, name, request))
        )
      case "workflow.version":
        return calls.count(
          Effect.flatMap(decodeVersion(payload), ({ seq, name, max }) => this.#recordVersion(seq, name, max))
        )
      case "workflow.continue":
        return Effect.flatMap(decodeArgs(payload), (args) => this.#renew(args))
      case "workflow.idle":
        return Effect.flatMap(decodeIdle(payload), ({ answers, from = 0 }) => Effect.as(this.#idle(answers, from), ""))
      case "workflow.cancellation":
        return this.#awaitCancellation
      default:
        return refuse("TypeError", "There is no such host call")
    }
  }

  /** Gives outcomes to the waits of this activation that have not ended. `stored` are the waits as the store has them. */
  receive(stored: ReadonlyArray<WaitRecord>): Effect.Effect<void> {
    return this.#waits.receive(stored)
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
      this.#guestCalls.countResult()
      return this.#progress.recordEnd(cancelRecord(now), this.#cancellation)
    })
  }

  /** Handles the end of an attempt at a step: another attempt, now or later, or its result. */
  #endAttempt(report: StepReport): Effect.Effect<string, HostCallRefused> {
    return Effect.gen({ self: this }, function* () {
      const { seq, name, ok, attempt, result, ms } = report
      const { claim, limits } = this.#options
      const now = yield* currentTime
      yield* this.#compare(seq, { kind: "step", name })
      yield* this.#admit()
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

  /** Fails if an earlier activation made another request with this number, and waits for it. */
  #compare(seq: number, request: Pick<WaitRecord, "kind" | "name">): Effect.Effect<void, HostCallRefused> {
    const difference = describeDifference(this.#waits.find(seq), request)
    return difference === null ? Effect.void : refuse("NonDeterminism", difference)
  }

  /** Fails if the run may have no further result. Open waits count, because each will have one. */
  #admit(): Effect.Effect<void, HostCallRefused> {
    return Effect.suspend(() =>
      this.#stepLimit.admit(this.#progress.count + this.#waits.count, (text) => this.#log?.warn(text))
    )
  }

  #createToken(request: TokenRequest, now: Timestamp): Effect.Effect<string, HostCallRefused> {
    return Effect.gen({ self: this }, function* () {
      const { seq, name } = request
      yield* this.#compare(seq, { kind: "token", name })
      yield* this.#admit()
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
    return this.#waits.open(toPause(pause, now), true, Effect.void)
  }

  #wait(request: WaitRequest, now: Timestamp): Effect.Effect<string, HostCallRefused> {
    return Effect.gen({ self: this }, function* () {
      const { seq, kind, call, token_seq } = request
      const { claim, tokens, freshEventId } = this.#options
      yield* this.#compare(seq, request)
      const known = this.#waits.find(seq)
      if (call !== null) this.#functionCalls.expect(seq, call)
      if (known !== undefined) return yield* this.#waits.open(known, false, this.#startChild(known))
      if (kind === "step") return yield* refuse("TypeError", "svc.step: this attempt does not wait for another one")
      const token = token_seq === null ? null : tokens.find(token_seq)
      if (token === undefined) return yield* refuse("TypeError", "svc.waitForToken: this run has no such token")
      yield* this.#admit()
      const exceeded = kind === "event" ? checkEventWaits(this.#waits.records, this.#options.limits) : null
      if (exceeded !== null) return yield* this.#failWait(request, exceeded, now)
      const since = request.fromStart ? claim.run.start_time : now
      const until = token === null ? request.until : token.expires_at
      const child = call === null ? null : yield* freshEventId
      return yield* this.#waits.open(toWait({ ...request, until }, since, child), true, Effect.void)
    })
  }

  /** Records that a wait failed: in a replay, fewer waits may be open. */
  #failWait({ seq, kind, name }: WaitRequest, message: string, now: Timestamp): Effect.Effect<string, HostCallRefused> {
    const result = { ok: false, result: formatError("LimitExceeded", message), attempts: 1 }
    return this.#progress.recordAtOnce({ seq, kind, name, ...result, started_at: now, ended_at: now })
  }

  /** Starts the child run of a stored wait; does not wait for it. */
  #startChild(wait: WaitRecord): Effect.Effect<void> {
    return this.#functionCalls.startChild(wait, (refused) =>
      Effect.gen({ self: this }, function* () {
        const isAwaited = this.#waits.isOpen(wait.seq)
        if (refused !== null) yield* this.#waits.endWith(wait.seq, refused)
        yield* this.#suspendOrHold
        return isAwaited
      })
    )
  }

  /** Calls a function in the background, and records the ids. */
  #call(seq: number, name: string, call: FunctionCall): Effect.Effect<string, HostCallRefused> {
    return Effect.gen({ self: this }, function* () {
      yield* this.#compare(seq, { kind: "call", name })
      yield* this.#admit()
      const since = yield* currentTime
      const called = yield* this.#functionCalls.call(seq, call)
      const times = { started_at: since, ended_at: yield* currentTime }
      return yield* this.#progress.record({ seq, kind: "call", name, ...called, attempts: 1, ...times })
    })
  }

  #recordVersion(seq: number, name: string, max: number): Effect.Effect<string, HostCallRefused> {
    return Effect.gen({ self: this }, function* () {
      yield* this.#admit()
      const now = yield* currentTime
      const result = { ok: true, result: toJsonText(max), attempts: 1, started_at: now, ended_at: now }
      return yield* this.#progress.recordAtOnce({ seq, kind: "version", name, ...result })
    })
  }

  /** Ends the run in favor of a new one. The guest is stopped, so it receives no answer. */
  #renew(args: ReadonlyArray<Schema.Json>): Effect.Effect<string, HostCallRefused> {
    return Effect.gen({ self: this }, function* () {
      yield* this.#options.admitRenewal
      this.#renewal = args
      this.#options.stop()
      return yield* Effect.never
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
      this.#guestCalls.report(answers)
      yield* this.#waits.cancelBefore(from)
      yield* this.#suspendOrHold
    })
  }

  get #isGuestIdle(): boolean {
    return this.#guestCalls.isIdle(this.#waits.count)
  }

  /** Holds the isolate for a wait that ends soon; otherwise suspends the run. */
  get #suspendOrHold(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      if (!this.#isGuestIdle || this.#progress.isBusy || this.#functionCalls.isBusy || this.#waits.isExpiring) return
      if (this.#suspension !== null) return
      const now = yield* currentTime
      const waits = this.#waits.records
      const next = earliestEnd(waits)
      if (next !== null && next - now <= holdMs) {
        yield* Effect.sleep(Math.max(0, next - now))
        yield* this.#waits.endDue
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
}
