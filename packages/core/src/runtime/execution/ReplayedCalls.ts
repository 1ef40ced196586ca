/**
 * Answers the host calls of a replay from a recording, and compares them with the recorded ones.
 *
 * JavaScript is deterministic: with the same answers in the same order, the same code makes the same calls in the same order.
 * So the n-th call of a replay is compared with the n-th recorded call, and calls end in the recorded order.
 */
import { Deferred, Effect, Option } from "effect"
import { type HostCall, type HostCallRefused, hostCallRefused } from "../../platform/sandbox/Sandbox.ts"
import { findDifference, type JsonDifference } from "../runs/JsonDifference.ts"
import type { RecordedCall, RecordedRun } from "../runs/Recording.ts"
import { makeRedaction, type Redaction } from "../runs/Redaction.ts"

/** A host call, with its arguments as JSON text. */
export type ComparedCall = Pick<RecordedCall, "op" | "args">

/** The first host call that differs. */
export interface CallDifference {
  readonly kind: "call"
  /** Number of the call, from 1. */
  readonly number: number
  /** Null if the run made no such call. */
  readonly recorded: ComparedCall | null
  /** Null if the replay made no such call. */
  readonly replayed: ComparedCall | null
  /** The first difference of the arguments; null if the operations differ. */
  readonly at: JsonDifference | null
}

/** Time in milliseconds for which a call waits for others that ended before it, if the replay has not made them yet. */
const earlierCallsMs = 250

/** Time in milliseconds without an answer after which a replay ends that waits for a call without a recorded end. */
const unansweredMs = 250

/** True for calls of a durable run that depend on the time of answers, and not on the code. They are not recorded. */
export const isReport = (op: string): boolean => op === "workflow.idle" || op === "workflow.cancellation"

interface WaitingCall {
  readonly recorded: RecordedCall
  readonly answer: Deferred.Deferred<string, HostCallRefused>
}

export class ReplayedCalls {
  readonly #recording: RecordedRun
  readonly #redaction: Redaction
  /** Completed when the replay needs no further execution. */
  readonly stop = Deferred.makeUnsafe<void>()
  #difference: CallDifference | null = null
  #isIncomplete = false
  #hasStalled = false
  #made = 0
  /** Number of the next call to end, in the recorded order. */
  #nextEnd = 0
  readonly #waiting = new Map<number, WaitingCall>()

  constructor(recording: RecordedRun) {
    this.#recording = recording
    this.#redaction = makeRedaction({ redact: recording.redact, secrets: new Map(), context: [] })
  }

  /** True if the recording ends before the replay. */
  get isIncomplete(): boolean {
    return this.#isIncomplete
  }

  /** True if the replay waits for the call during which the recorded run timed out. */
  get hasStalled(): boolean {
    return this.#hasStalled
  }

  /** Number of calls that the replay has made. */
  get made(): number {
    return this.#made
  }

  /** Returns the first call that differs, or null. With `hasEnded`, a recorded call that the replay did not make as well. */
  findDifference(hasEnded: boolean): CallDifference | null {
    const recorded = this.#recording.calls[this.#made]
    if (this.#difference !== null || !hasEnded || recorded === undefined) return this.#difference
    return { kind: "call", number: this.#made + 1, recorded: toCompared(recorded), replayed: null, at: null }
  }

  answer(call: HostCall): Effect.Effect<string, HostCallRefused> {
    return Effect.suspend(() => {
      // The run waits for the end of reports, but not for a cancellation.
      if (isReport(call.op)) return call.op === "workflow.idle" ? Effect.succeed("") : Effect.never
      const number = ++this.#made
      const recorded = this.#recording.calls[number - 1]
      if (recorded === undefined && this.#recording.truncated === 1) {
        this.#isIncomplete = true
        return this.#end()
      }
      const args = this.#redaction.args(call) ?? call.payload
      const difference = findCallDifference(number, recorded, { op: call.op, args })
      if (difference !== null || recorded === undefined) {
        this.#difference ??= difference
        return this.#end()
      }
      if (recorded.ended === null) return this.#stall()
      const answer = Deferred.makeUnsafe<string, HostCallRefused>()
      this.#waiting.set(recorded.ended, { recorded, answer })
      this.#release()
      return this.#await(answer)
    })
  }

  /** Ends the replay. */
  #end(): Effect.Effect<never> {
    Deferred.doneUnsafe(this.stop, Effect.void)
    return Effect.never
  }

  /** Answers the waiting calls whose turn it is. */
  #release(): void {
    for (let next = this.#waiting.get(this.#nextEnd); next !== undefined; next = this.#waiting.get(this.#nextEnd)) {
      this.#waiting.delete(this.#nextEnd++)
      Deferred.doneUnsafe(next.answer, toAnswer(next.recorded))
    }
  }

  /** Waits for an answer. Stops waiting for calls that ended before it, if the replay does not make them. */
  #await(answer: WaitingCall["answer"]): Effect.Effect<string, HostCallRefused> {
    return Effect.flatMap(
      Effect.timeoutOption(Deferred.await(answer), earlierCallsMs),
      Option.match({
        onSome: (text) => Effect.succeed(text),
        onNone: () => {
          if (this.#waiting.size > 0) this.#nextEnd = Math.min(...this.#waiting.keys())
          this.#release()
          return this.#await(answer)
        }
      })
    )
  }

  /** Waits for an answer that the recording does not have. */
  #stall(): Effect.Effect<never> {
    const isEndOfRecording = this.#recording.truncated === 1
    if (!isEndOfRecording && !timedOut.test(this.#recording.result)) return Effect.never
    return Effect.flatMap(Effect.sleep(unansweredMs), () => {
      // Other calls may still be answered, and lead to calls that differ.
      if (this.#waiting.size > 0) return this.#stall()
      if (isEndOfRecording) this.#isIncomplete = true
      else this.#hasStalled = true
      return this.#end()
    })
  }
}

/** The result of a run that took longer than its timeout. */
const timedOut = /^\{"error":\{"name":"TimedOut"/

const toCompared = ({ op, args }: ComparedCall): ComparedCall => ({ op, args })

const toAnswer = ({ answer, error }: RecordedCall): Effect.Effect<string, HostCallRefused> =>
  error === null ? Effect.succeed(answer ?? "") : Effect.fail(hostCallRefused(error.name, error.message))

const findCallDifference = (
  number: number,
  recorded: RecordedCall | undefined,
  replayed: ComparedCall
): CallDifference | null => {
  if (recorded === undefined) return { kind: "call", number, recorded: null, replayed, at: null }
  const compared = toCompared(recorded)
  if (recorded.op !== replayed.op) return { kind: "call", number, recorded: compared, replayed, at: null }
  const at = recorded.args === replayed.args ? null : findDifference(parse(recorded.args), parse(replayed.args))
  return at === null ? null : { kind: "call", number, recorded: compared, replayed, at }
}

/** Parses arguments, which are the JSON of a guest. */
const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
