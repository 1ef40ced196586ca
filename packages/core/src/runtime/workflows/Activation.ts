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
 */
import { Deferred, Effect, Random } from "effect"
import { toJsonText } from "../../foundation/JsonText.ts"
import { addMillis, now as currentTime, type Timestamp } from "../../foundation/time/Timestamp.ts"
import { type HostCall, HostCallRefused } from "../../platform/sandbox/Sandbox.ts"
import { retryDelayMs } from "../../resources/builds/RetryPolicy.ts"
import type { Claim, JournalEntry } from "../journal/JournalStore.ts"
import { isTooLargeOutcome } from "../runs/EventMatch.ts"
import {
  describeWaits,
  formatWaiting,
  type History,
  type StepRecord,
  type Waiting,
  type WaitRecord
} from "../runs/Workflow.ts"
import { HistorySize, type WorkflowLimits } from "./HistorySize.ts"
import { formatResult, formatRetry } from "./Replay.ts"
import { describeDifference, formatError, refuse, tooLarge } from "./RequestErrors.ts"
import { decodeStep, decodeWait, type StepReport, type WaitRequest } from "./Requests.ts"

/** Longest wait for which the isolate is kept, in milliseconds. */
const holdMs = 1_000

export type Advanced = Extract<JournalEntry, { _tag: "Advanced" }>

interface ActivationOptions {
  readonly claim: Claim
  readonly history: History
  /** End of the run's timeout. */
  readonly deadline: Timestamp
  readonly limits: WorkflowLimits
  /** Writes progress durably, with retries. Returns false if another activation holds the run, or if the node shuts down. */
  readonly write: (entry: Advanced) => Effect.Effect<boolean>
  /** Called after new waits are stored. */
  readonly onStored: (waits: ReadonlyArray<WaitRecord>) => Effect.Effect<void>
  /** Stops the guest, without waiting for its end. */
  readonly stop: () => void
}

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
  /** True if the guest can do nothing until it receives a result. */
  #isIdle = false
  #suspension: Advanced | null = null

  constructor(options: ActivationOptions) {
    this.#options = options
    this.#position = options.history.steps.length
    this.#size = new HistorySize(options.history, options.limits)
    this.#waits = new Map(options.history.waits.map((wait) => [wait.seq, wait]))
  }

  /** The entry that suspends the run, once the activation has decided to; null before. Its logs are empty. */
  get suspension(): Advanced | null {
    return this.#suspension
  }

  /** Returns an entry with the progress that is not stored yet, at the end of the activation; null without any. */
  trailing(at: Timestamp): Advanced | null {
    const { delivery, run } = this.#options.claim
    if (this.#unstored.length + this.#newWaits.length === 0) return null
    const [steps, waits] = [this.#unstored, this.#newWaits]
    return { _tag: "Advanced", run, deliveryId: delivery.delivery_id, at, steps, waits, suspension: null }
  }

  /** Answers a host call `workflow.*`. */
  answer(call: HostCall): Effect.Effect<string, HostCallRefused> {
    switch (call.op) {
      case "workflow.step":
        return Effect.flatMap(decodeStep(call.payload), (report) => this.#endAttempt(report))
      case "workflow.wait":
        return Effect.flatMap(currentTime, (now) =>
          Effect.flatMap(decodeWait(call.payload, now), (request) => this.#wait(request, now))
        )
      case "workflow.idle":
        return Effect.as(this.#idle, "")
      default:
        return Effect.fail(new HostCallRefused({ name: "TypeError", message: "There is no such host call" }))
    }
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

  /** Handles the end of an attempt at a step: another attempt, now or later, or its result. */
  #endAttempt(report: StepReport): Effect.Effect<string, HostCallRefused> {
    return Effect.gen({ self: this }, function* () {
      const { seq, name, ok, attempt, result, ms } = report
      const { claim, limits } = this.#options
      const now = yield* currentTime
      const known = this.#waits.get(seq)
      if (known !== undefined && (known.kind !== "step" || known.name !== name)) {
        return yield* refuse("NonDeterminism", describeDifference(seq, known, { kind: "step", name }))
      }
      const full = this.#size.checkResults()
      if (full !== null) return yield* refuse("LimitExceeded", full)
      const policy = report.retry ?? claim.delivery.retry
      if (!ok && attempt < policy.attempts) {
        const until = addMillis(now, retryDelayMs(policy, attempt, yield* Random.next))
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
      if (known !== undefined) {
        return known.kind === request.kind && known.name === request.name
          ? this.#openWait(known, false)
          : refuse("NonDeterminism", describeDifference(request.seq, known, request))
      }
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
      if (hasEnded(record, now)) yield* this.#endWait(open, now)
      return yield* Deferred.await(answered)
    })
  }

  /** Ends an open wait: the function receives its result, now or after the commit in flight. */
  #endWait({ record, answered }: OpenWait, now: Timestamp): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { seq, kind, name, outcome, since, attempts } = record
      if (!this.#open.delete(seq)) return Effect.void
      this.#isIdle = false
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
        if (!isCounted) return this.#options.stop()
        yield* this.#options.onStored(waits)
        if (taken.length > 0) this.#isIdle = false
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
    const { delivery, run } = this.#options.claim
    return Effect.map(currentTime, (at) => ({
      ...({ _tag: "Advanced", run, deliveryId: delivery.delivery_id, at, steps, waits } as const),
      suspension:
        suspended === null ? null : { due_at: suspended.due_at, waiting: formatWaiting(suspended.waiting), logs: [] }
    }))
  }

  #takeQueued() {
    const taken = this.#queued.map(({ step, answered }) => ({
      step: { position: this.#position++, ...step },
      answered
    }))
    this.#queued = []
    return taken
  }

  /** Handles the message that the guest can do nothing until it receives a result. */
  get #idle(): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.#isIdle = true
      return this.#suspendOrHold
    })
  }

  /** Holds the isolate for a wait that ends soon; otherwise suspends the run. */
  get #suspendOrHold(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      if (this.#isCommitting || this.#queued.length > 0 || this.#suspension !== null) return
      const now = yield* currentTime
      const waits = [...this.#open.values()].map(({ record }) => record)
      const next = earliest(waits)
      if (next !== null && next - now <= holdMs) {
        yield* Effect.sleep(Math.max(0, next - now))
        return yield* this.#endDue
      }
      const { deadline } = this.#options
      const waiting = describeWaits(waits)
      if (waiting === null) return
      const suspended = { due_at: next === null || next > deadline ? deadline : next, waiting }
      this.#suspension = yield* this.#entry(this.#unstored, this.#newWaits, suspended)
      this.#options.stop()
    })
  }

  /** Ends all open waits whose time has come, in the order of their times. */
  get #endDue(): Effect.Effect<void> {
    return Effect.flatMap(currentTime, (now) => {
      const due = [...this.#open.values()].filter(({ record }) => hasEnded(record, now))
      due.sort((a, b) => (a.record.until ?? now) - (b.record.until ?? now) || a.record.seq - b.record.seq)
      return Effect.forEach(due, (open) => this.#endWait(open, now), { discard: true })
    })
  }
}

const hasEnded = ({ until, outcome }: WaitRecord, now: Timestamp): boolean =>
  outcome !== null || (until !== null && until <= now)

const earliest = (waits: ReadonlyArray<WaitRecord>): Timestamp | null =>
  waits.reduce<Timestamp | null>(
    (least, { until }) => (until === null || (least !== null && least <= until) ? least : until),
    null
  )
