/**
 * Host calls for the requests of a durable function, and the report that the function can do nothing until a wait ends.
 *
 * The host may suspend the run after that report, unless it has given an answer meanwhile.
 */
import { limitError, namedError } from "./failures.ts"
import { NativeError, NativePromise, NativeString, parse, whenSettled } from "./primordials.ts"
import type { Run } from "./Run.ts"

/** A result: `ok` is null if a step is to be repeated now. */
export type RequestResult = readonly [seq: number, ok: boolean | null, time: number, value?: unknown]

export class RequestCalls {
  readonly #run: Run
  /** Ends the run with an error that its code cannot catch. */
  readonly #end: (error: Error) => void
  readonly #onResult: (result: RequestResult) => void
  /** Calls for requests that are not answered. */
  #asked = 0
  /** Answers to them. A report of idleness is stale if the host has given more. */
  #answers = 0
  /** Those that report a success. The host answers each after a commit, so the guest is not idle before. */
  #recording = 0
  /** Calls `workflow.idle` and `workflow.cancellation` that are not answered. */
  #unanswered = 0
  /** Number of requests and results so far, and that number when the guest was last reported as idle. */
  #changes = 0
  #idleChanges = -1

  /** `onResult` receives each result before the function does. */
  constructor(run: Run, end: (error: Error) => void, onResult: (result: RequestResult) => void) {
    this.#run = run
    this.#end = end
    this.#onResult = onResult
  }

  /** Counts a request or a result. An earlier report of idleness is stale. */
  countChange(): void {
    this.#changes++
  }

  /** Makes a call. Its answer is the next result that the function receives. */
  ask(op: string, payload: string, isRecording = false): Promise<RequestResult> {
    // One call remains for `workflow.idle`, without which the run could not be suspended.
    if (this.#run.freeCalls < 2) throw limitError("pendingHostCalls", "too many pending requests")
    this.#asked++
    if (isRecording) this.#recording++
    const countAnswer = () => {
      this.#asked--
      this.#answers++
      if (isRecording) this.#recording--
      this.#changes++
    }
    return new NativePromise((resolve, reject) => {
      whenSettled(
        this.#run.call(op, payload),
        (text) => {
          countAnswer()
          this.#run.isMuted = false
          const result: RequestResult = parse(NativeString(text))
          this.#onResult(result)
          resolve(result)
        },
        (error) => {
          countAnswer()
          if (error instanceof NativeError && error.name === "NonDeterminism") this.#end(error)
          else reject(error)
        }
      )
    })
  }

  /** Asks the host for a cancellation. */
  watch(onCancelled: (result: RequestResult) => void): void {
    this.#unanswered++
    whenSettled(
      this.#run.call("workflow.cancellation", "{}"),
      (text) => {
        this.#unanswered--
        this.#answers++
        this.#changes++
        this.#run.isMuted = false
        onCancelled(parse(NativeString(text)))
      },
      () => {
        this.#unanswered--
      }
    )
  }

  /** Reports that the function is idle, unless it waits for something else than requests. `from` is the first that counts. */
  reportIdle(from: number): void {
    const run = this.#run
    const isWaiting =
      this.#recording === 0 && run.pendingTimers === 0 && run.pendingCalls === this.#asked + this.#unanswered
    if (run.ended || !isWaiting || this.#changes === this.#idleChanges) return
    if (this.#asked === 0) {
      this.#end(namedError("Stalled", `${run.fn} waits for a promise that nothing can settle`))
      return
    }
    this.#idleChanges = this.#changes
    this.#unanswered++
    const answered = () => {
      this.#unanswered--
    }
    whenSettled(run.call("workflow.idle", `{"answers":${this.#answers},"from":${from}}`), answered, answered)
  }
}
