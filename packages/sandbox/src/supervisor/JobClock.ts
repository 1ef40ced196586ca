/**
 * Wall-clock timeouts of jobs.
 *
 * If no client waits for a run (`queueTimeoutMs`), time in the runner's queue does not count. Only the runner knows that
 * time: when the timeout expires, the clock requests the run's age. A hostile runner can report a wrong age, but
 * `queueTimeoutMs` bounds the delay.
 */
import type { Job } from "./Job.ts"

/** Maximum time for a runner to report the age of a run. */
const replyTimeoutMs = 400

export class JobClock {
  readonly #stop: (job: Job) => void

  /** `stop` is called when the timeout of a job expires. */
  constructor(stop: (job: Job) => void) {
    this.#stop = stop
  }

  start(job: Job, ms: number = job.invocation.timeoutMs): void {
    job.timer = setTimeout(() => this.#expired(job), ms)
  }

  /** Handles the runner's report: the job has run for `ms` milliseconds, 0 while it is queued. */
  reportAge(job: Job, ms: number): void {
    if (job.stopReason !== undefined || !job.isQueueTimeFree) return
    clearTimeout(job.timer)
    const left = job.invocation.timeoutMs - ms
    if (left > 0) this.start(job, left)
    else this.#stop(job)
  }

  #expired(job: Job): void {
    const { runner, isolate } = job
    if (!job.isQueueTimeFree) {
      this.#stop(job)
    } else if (runner === undefined || isolate === undefined) {
      this.start(job)
    } else {
      runner.send({ kind: "reportAge", isolate: isolate.id, run: job.id })
      job.timer = setTimeout(() => this.#stop(job), replyTimeoutMs)
    }
  }
}
