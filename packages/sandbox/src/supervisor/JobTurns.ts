/** Host calls and ends of runs, which the supervisor handles in turns between environments. */
import type { EnvId } from "@weft/core"
import type { WorkScheduler } from "@weft/core/adapter"
import type { FromRunner, RunEndMessage } from "../protocol/FromRunner.ts"
import type { HostCallResult, Job } from "./Job.ts"
import type { RunnerView } from "./RunnerView.ts"

/** Maximum characters of a build's answers that wait until a runner reads. Further ones are refused. */
const buildAnswerLengthMax = 64 * 1024 * 1024

const answersExceeded: HostCallResult = {
  ok: false,
  text: "LimitExceeded",
  detail: `the answers that this build has not read exceed ${buildAnswerLengthMax} characters`
}

export class JobTurns {
  readonly #turns: WorkScheduler
  readonly #onEnd: (job: Job, message: RunEndMessage) => void

  /** @param onEnd handles the end of a run; throws `ProtocolError` for an invalid message */
  constructor(turns: WorkScheduler, onEnd: (job: Job, message: RunEndMessage) => void) {
    this.#turns = turns
    this.#onEnd = onEnd
  }

  /**
   * Performs a host call in a turn of its environment, once the runner has read most of the earlier answers. Until then the
   * guest, whose calls are limited, waits.
   */
  receiveCall(view: RunnerView, message: Extract<FromRunner, { readonly kind: "call" }>): void {
    const job = view.jobs.get(message.run)
    const isolate = job?.isolate
    if (job === undefined || isolate === undefined || job.stopReason !== undefined) return
    if (job.endMessage !== undefined) return
    const reply = (result: HostCallResult): void => {
      const isExpected = (): boolean => view.jobs.get(job.id) === job && job.isolate === isolate && job.expectsAnswers
      this.#answer(view, job, result, isExpected, ({ ok, text, detail }) =>
        view.runner.send({
          kind: "hostCallResult",
          isolate: isolate.id,
          run: job.id,
          call: message.call,
          ok,
          text,
          detail
        })
      )
    }
    const call = job.receiveCall(message, reply)
    if (call === null) return
    const { envId } = job.build
    const { length } = message.payload
    const isAccepted = this.#turns.offer(envId, "host_call", length, () => this.#start(view, envId, call.start))
    if (!isAccepted) call.refuse()
  }

  /**
   * Sends an answer. A large one waits until the runner has read most of the earlier ones. Otherwise, messages of neighbours
   * would wait behind it in the socket. Meanwhile the run may have ended.
   */
  #answer(
    view: RunnerView,
    { build }: Job,
    result: HostCallResult,
    isExpected: () => boolean,
    send: (result: HostCallResult) => void
  ): void {
    const { length } = result.text
    if (build.answerLength + length > buildAnswerLengthMax) {
      send(answersExceeded)
      return
    }
    build.answerLength += length
    view.runner.whenDrained(length, () => {
      build.answerLength -= length
      if (isExpected()) send(result)
    })
  }

  /** Starts a host call now or, while the runner has not read many answers, in a later turn. */
  #start(view: RunnerView, envId: EnvId, start: () => void): void {
    let isTurn = true
    view.runner.whenRead(() => {
      if (isTurn) return start()
      // After the callbacks of all calls that wait, so that they keep their order.
      setImmediate(() => this.#turns.run(envId, "host_call", () => this.#start(view, envId, start)))
    })
    isTurn = false
  }

  /** Handles the end of a run in a turn of its environment, after the host calls that it made before. */
  receiveEnd(view: RunnerView, message: RunEndMessage): void {
    const job = view.jobs.get(message.run)
    if (job === undefined || job.endMessage !== undefined) return
    job.endMessage = message
    this.#turns.run(job.build.envId, "outcome", () => this.handleEnd(view, job))
  }

  /** Handles the end of the run now if the runner has reported it. For runs whose runner or isolate is lost. */
  handleEnd(view: RunnerView, job: Job): void {
    const message = job.endMessage
    job.endMessage = undefined
    if (message === undefined || view.jobs.get(job.id) !== job) return
    view.runner.guard(() => this.#onEnd(job, message))
  }
}
