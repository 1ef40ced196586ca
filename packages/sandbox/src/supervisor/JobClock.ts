/**
 * The wall clock of jobs: when each has taken too long.
 *
 * Where nobody waits for a run, what it spends waiting behind others that compute is not its own time. Only its runner
 * knows how much that was, and is asked when the time would be over; it may lie, but not for longer than the patience.
 */
import type { Job } from "./Job.ts"

/** How long a runner may take to answer that the jobs in it are still there. */
const answerMs = 400

export class JobClock {
  readonly #stop: (job: Job) => void

  /** `stop` is called when a job has taken too long. */
  constructor(stop: (job: Job) => void) {
    this.#stop = stop
  }

  start(job: Job, ms: number = job.invocation.timeoutMs): void {
    job.timer = setTimeout(() => this.#over(job), ms)
  }

  /** The runner says that the job has been going on for so long, 0 while it waits. */
  begun(job: Job, ms: number): void {
    if (job.stopping !== undefined || !job.mayWait) return
    clearTimeout(job.timer)
    const left = job.invocation.timeoutMs - ms
    if (left > 0) this.start(job, left)
    else this.#stop(job)
  }

  #over(job: Job): void {
    const { runner, isolate } = job
    if (!job.mayWait) {
      this.#stop(job)
    } else if (runner === undefined || isolate === undefined) {
      this.start(job)
    } else {
      runner.send({ kind: "ask", isolate: isolate.id, run: job.id })
      job.timer = setTimeout(() => this.#stop(job), answerMs)
    }
  }
}
