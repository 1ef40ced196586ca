/** Collects the host calls of one run with their answers, within the limits of a recording. */
import { Cause, Effect, Exit, Option } from "effect"
import { addMillis } from "../../foundation/time/Timestamp.ts"
import type { Execution } from "../../platform/sandbox/Outcome.ts"
import type { HostCall, HostCallRefused } from "../../platform/sandbox/Sandbox.ts"
import type { RecordingRules } from "../../resources/builds/RecordingRules.ts"
import { toResult, toStatus } from "../runs/Attempt.ts"
import {
  type RecordedCall,
  type RecordedInput,
  type RecordingContents,
  type RecordingSummary,
  recordedCallsMax,
  recordingLengthMax,
  secretPlaceholder
} from "../runs/Recording.ts"
import { makeRedaction, type Redaction, redactedText } from "../runs/Redaction.ts"
import type { Run } from "../runs/Run.ts"
import type { RecordingBudget } from "./RecordingBudget.ts"

/** A call, whose end is recorded later. */
interface ObservedCall extends HostCall {
  end: Pick<RecordedCall, "answer" | "error" | "ended"> | null
}

/** A recording, ready to be encrypted. */
export interface EndedRecording {
  readonly summary: RecordingSummary
  readonly contents: RecordingContents
}

export class CallRecorder {
  readonly #run: Run
  readonly #rules: RecordingRules
  readonly #input: RecordedInput
  readonly #budget: RecordingBudget
  readonly #calls: Array<ObservedCall> = []
  /** Texts that replace secrets. */
  readonly #secrets = new Map<string, string>()
  /** Values of context variables that are recorded as they are. */
  readonly #plain = new Set<string>()
  #ended = 0
  #length: number
  /** True once something was not recorded. Nothing after that is recorded either. */
  #isTruncated = false
  #isReleased = false

  /** The input must fit into the budget, which has already counted it. */
  constructor(run: Run, rules: RecordingRules, input: RecordedInput, budget: RecordingBudget) {
    this.#run = run
    this.#rules = rules
    this.#input = input
    this.#budget = budget
    this.#length = lengthOf(input)
  }

  /** Characters of the recorded texts. */
  get length(): number {
    return this.#length
  }

  /** Returns the answer to a call, and records both. */
  observe(call: HostCall, answer: Effect.Effect<string, HostCallRefused>): Effect.Effect<string, HostCallRefused> {
    if (!this.#rules.host_calls || this.#calls.length >= recordedCallsMax) this.#isTruncated = true
    if (!this.#take(call.op.length + call.payload.length)) return answer
    const observed: ObservedCall = { op: call.op, payload: call.payload, end: null }
    this.#calls.push(observed)
    return Effect.onExit(answer, (exit) => Effect.sync(() => this.#addEnd(observed, exit)))
  }

  #addEnd(call: ObservedCall, exit: Exit.Exit<string, HostCallRefused>): void {
    const end = toEnd(exit)
    if (end === null || !this.#take((end.answer?.length ?? 0) + (end.error?.message.length ?? 0))) return
    call.end = { ...end, ended: this.#ended++ }
    if (end.answer !== null) this.#addSecrets(call, end.answer)
  }

  /** Adds the context variables of an answer to the secrets. */
  #addSecrets({ op, payload }: HostCall, answer: string): void {
    if (op === "context.get") {
      const { key }: { readonly key: string } = JSON.parse(payload)
      const value: string | null = JSON.parse(answer)
      if (value !== null) this.#addSecret(key, value)
    } else if (op === "context.all") {
      const values: Readonly<Record<string, string>> = JSON.parse(answer)
      for (const [key, value] of Object.entries(values)) this.#addSecret(key, value)
    }
  }

  #addSecret(key: string, value: string): void {
    if (this.#rules.context.includes(key)) this.#plain.add(value)
    else this.#secrets.set(value, secretPlaceholder(key))
  }

  #take(length: number): boolean {
    if (this.#isTruncated || this.#isReleased) return false
    if (this.#length + length > recordingLengthMax || !this.#budget.take(this.#run.env_id, length)) {
      this.#isTruncated = true
      return false
    }
    this.#length += length
    return true
  }

  /**
   * Returns the recording of the ended run; null if it was released before, or cannot be redacted. `known` are all secrets
   * that the run has received, also by calls that are not recorded.
   */
  end(execution: Execution, known: ReadonlySet<string>): EndedRecording | null {
    if (this.#isReleased) return null
    const { redact, context } = this.#rules
    for (const value of known) {
      if (!this.#secrets.has(value) && !this.#plain.has(value)) this.#secrets.set(value, redactedText)
    }
    const redaction = makeRedaction({ redact, context, secrets: this.#secrets })
    const calls: Array<RecordedCall> = []
    for (const call of this.#calls) {
      const recorded = redactCall(redaction, call)
      if (recorded === null) {
        this.#isTruncated = true
        break
      }
      calls.push(recorded)
    }
    const input = redactInput(redaction, this.#input)
    const result = redaction.json(toResult(execution.outcome))
    if (input === null || result === null) return null
    return { summary: this.#toSummary(execution), contents: { input, calls, result, redact } }
  }

  #toSummary({ outcome }: Execution): RecordingSummary {
    const { run_id, env_id, project_id, project_name, build_id, ns, var: name, run_type, start_time } = this.#run
    return {
      ...{ run_id, env_id, project_id, project_name, build_id, ns, var: name, run_type, start_time },
      status: toStatus(outcome),
      expires_at: addMillis(start_time, this.#rules.retention_ms),
      host_calls: this.#rules.host_calls ? 1 : 0,
      truncated: this.#isTruncated ? 1 : 0,
      length: this.#length
    }
  }

  /** Releases the memory, once. */
  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#budget.release(this.#run.env_id, this.#length)
  }
}

export const lengthOf = ({ svc, body, replay = [] }: RecordedInput): number =>
  replay.reduce((length, text) => length + text.length, svc.length + (body?.text.length ?? 0))

/** Returns the end of a call as the guest sees it; null if the call was interrupted. */
const toEnd = (exit: Exit.Exit<string, HostCallRefused>): Pick<RecordedCall, "answer" | "error"> | null => {
  if (Exit.isSuccess(exit)) return { answer: exit.value, error: null }
  const refused = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  if (refused !== undefined) return { answer: null, error: { name: refused.name, message: refused.message } }
  return Cause.hasDies(exit.cause) ? { answer: null, error: hostFailure } : null
}

/** The error of a guest whose call failed with a defect. */
const hostFailure = { name: "HostCallFailed", message: "the host could not do this now" }

const redactCall = (redaction: Redaction, call: ObservedCall): RecordedCall | null => {
  const args = redaction.args(call)
  if (args === null) return null
  const { answer = null, error = null, ended = null } = call.end ?? {}
  const kept = answer === null ? null : redaction.answer(call, answer)
  if (answer !== null && kept === null) return null
  const message = error === null ? null : redaction.text(error.message)
  if (error !== null && message === null) return null
  return { op: call.op, args, answer: kept, error: error && { name: error.name, message: message ?? "" }, ended }
}

const redactInput = (redaction: Redaction, { svc, body, replay, ...rest }: RecordedInput): RecordedInput | null => {
  const facts = redaction.json(svc)
  const kept = body === null ? null : redaction.body(body)
  const results = replay?.map((text) => redaction.json(text) ?? "")
  if (facts === null || (body !== null && kept === null) || results?.includes("") === true) return null
  return { ...rest, svc: facts, body: kept, ...(results === undefined ? {} : { replay: results }) }
}
