/** The messages that start a run in a runner. */
import type { IsolateHandle } from "./Build.ts"
import type { Job } from "./Job.ts"
import type { RunnerProcess } from "./RunnerProcess.ts"

/** Id of the host call whose answers are the recorded results of a durable run. The kernel uses the same. */
const replayCall = 0

export const sendInvocation = (runner: RunnerProcess, isolate: IsolateHandle, job: Job): void => {
  const { fn, trigger, svc, body = null, replay = [] } = job.invocation
  runner.send({ kind: "invoke", isolate: isolate.id, run: job.id, trigger, fn: `${fn.ns}/${fn.var}`, svc, body })
  for (const text of replay) {
    const answer = { call: replayCall, ok: true, text, detail: "" }
    runner.send({ kind: "hostCallResult", isolate: isolate.id, run: job.id, ...answer })
  }
}
