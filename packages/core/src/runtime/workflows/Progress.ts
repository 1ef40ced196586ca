/**
 * Progress of an activation: its new results and waits, until they are stored.
 *
 * - A step is answered after its result is durable. Steps that end while a commit is in flight share the next one.
 * - The end of a wait is answered at once, because the store can decide again that it has ended. The next commit records it.
 *   While a commit is in flight it queues, because positions follow the order in which the function receives results.
 */
import { Deferred, Effect } from "effect"
import type { HostCallRefused } from "../../platform/sandbox/Sandbox.ts"
import { countSteps, type History, type StepRecord, type WaitRecord } from "../runs/Workflow.ts"
import { HistorySize } from "./HistorySize.ts"
import { formatResult } from "./Replay.ts"
import { endsByTime } from "./RequestRules.ts"
import type { WorkflowLimits } from "./WorkflowLimits.ts"

/** The answer to a host call. */
export type Answer = Deferred.Deferred<string, HostCallRefused>

type NewResult = Omit<StepRecord, "position">

/** A result whose place in the order is decided. */
interface PlacedResult {
  readonly step: StepRecord
  readonly answered: Answer
}

interface ProgressOptions {
  /** The history at the start of the activation. */
  readonly history: History
  readonly limits: WorkflowLimits
  /** Writes progress durably. Returns false if it does not count. */
  readonly write: (steps: ReadonlyArray<StepRecord>, waits: ReadonlyArray<WaitRecord>) => Effect.Effect<boolean>
  /** Called after new waits are stored. */
  readonly onStored: (waits: ReadonlyArray<WaitRecord>) => Effect.Effect<void>
  /** Returns the step with its result for the function. Called when the function is to receive it. */
  readonly toResult: (step: StepRecord) => StepRecord
  /** Executed after the last commit. */
  readonly onCommitted: Effect.Effect<void>
  /** Called after a write that did not count. */
  readonly onRefused: () => void
}

export class Progress {
  readonly #options: ProgressOptions
  #position: number
  readonly #size: HistorySize
  /** Waits that are not stored yet. */
  #newWaits: Array<WaitRecord> = []
  /** Results that the function has received but that are not stored. */
  #unstored: Array<StepRecord> = []
  /** Results for the next commit. */
  #queued: Array<{ readonly step: NewResult; readonly answered: Answer }> = []
  #isCommitting = false
  /** True after a write that did not count. Then no later one may count either, because its results would be missing. */
  #isRefused = false
  #isStored = false

  constructor(options: ProgressOptions) {
    this.#options = options
    // A crash may have left a gap: a position that is used again would hide the result that has it.
    this.#position = countSteps(options.history.steps)
    this.#size = new HistorySize(options.history, options.limits)
  }

  /** Number of results, recorded or to be recorded. */
  get count(): number {
    return this.#position + this.#queued.length
  }

  /** True if a commit is in flight, or is to follow. */
  get isBusy(): boolean {
    return this.#isCommitting || this.#queued.length > 0
  }

  /** True if there is a new result or wait, stored or not. */
  get hasAny(): boolean {
    return this.#isStored || this.#unstored.length + this.#newWaits.length > 0
  }

  /** Progress that is to be stored at the end of the activation; null without any. */
  get trailing(): { readonly steps: ReadonlyArray<StepRecord>; readonly waits: ReadonlyArray<WaitRecord> } | null {
    return this.#isRefused || this.#unstored.length + this.#newWaits.length === 0 ? null : this.unstored
  }

  /** Results and waits that are not stored. */
  get unstored(): { readonly steps: ReadonlyArray<StepRecord>; readonly waits: ReadonlyArray<WaitRecord> } {
    return { steps: [...this.#unstored], waits: [...this.#newWaits] }
  }

  /** Records the result of a step, and answers after the commit. */
  record(step: NewResult): Effect.Effect<string, HostCallRefused> {
    return Effect.gen({ self: this }, function* () {
      const answered = yield* Deferred.make<string, HostCallRefused>()
      this.#queued.push({ step: this.#size.add(step), answered })
      yield* this.#flushSoon
      return yield* Deferred.await(answered)
    })
  }

  /** Records the end of a wait, and answers: now or after the commit in flight. */
  recordEnd(step: NewResult, answered: Answer): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.#queued.push({ step: this.#size.add(step), answered })
      return this.#isCommitting ? Effect.void : this.#deliver(this.#takeQueued())
    })
  }

  /** As `recordEnd`, for a request that did not wait. Returns the answer. */
  recordAtOnce(step: NewResult): Effect.Effect<string, HostCallRefused> {
    return Effect.gen({ self: this }, function* () {
      const answered = yield* Deferred.make<string, HostCallRefused>()
      yield* this.recordEnd(step, answered)
      return yield* Deferred.await(answered)
    })
  }

  /** Records a result that the guest ignores, so it may precede others. */
  recordIgnored(step: NewResult, answered: Answer): Effect.Effect<void> {
    return Effect.suspend(() =>
      this.#deliver([{ step: { position: this.#position++, ...this.#size.add(step) }, answered }])
    )
  }

  /** Adds a wait. It is stored at once if something outside of the run may end it. */
  addWait(record: WaitRecord): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.#forgetNewWait(record.seq)
      this.#newWaits.push(record)
      return endsByTime(record) ? Effect.void : this.#flushSoon
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
      const { write, onStored, toResult, onCommitted, onRefused } = this.#options
      while (true) {
        // Steps that end in the same turn of the guest share the commit.
        yield* Effect.yieldNow
        const taken = this.#takeQueued()
        const waits = this.#newWaits
        this.#newWaits = []
        if (taken.length + waits.length === 0) break
        const steps = [...this.#unstored, ...taken.map(({ step }) => step)]
        this.#unstored = []
        if (!(yield* write(steps, waits))) {
          this.#isRefused = true
          return onRefused()
        }
        this.#isStored = true
        yield* onStored(waits)
        for (const { step, answered } of taken) yield* Deferred.succeed(answered, formatResult(toResult(step)))
      }
      this.#isCommitting = false
      yield* onCommitted
    })
  }

  /** Answers the ends of waits. The next commit records them. */
  #deliver(taken: ReadonlyArray<PlacedResult>): Effect.Effect<void> {
    // At once: a commit that begins between two answers must not overtake the others.
    for (const { step } of taken) {
      this.#forgetNewWait(step.seq)
      this.#unstored.push(step)
    }
    return Effect.forEach(
      taken,
      ({ step, answered }) => Deferred.succeed(answered, formatResult(this.#options.toResult(step))),
      { discard: true }
    )
  }

  #forgetNewWait(seq: number): void {
    this.#newWaits = this.#newWaits.filter((wait) => wait.seq !== seq)
  }

  #takeQueued(): ReadonlyArray<PlacedResult> {
    const taken = this.#queued.map(({ step, answered }) => ({
      step: { position: this.#position++, ...step },
      answered
    }))
    this.#queued = []
    return taken
  }
}
