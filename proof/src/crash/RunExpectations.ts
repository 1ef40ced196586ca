/** Checks of events and runs after a crash. */
import { setTimeout as sleep } from "node:timers/promises"
import { at, type Harness, listAt, UnknownOutcome } from "./Harness.ts"

/** Default time limit, in milliseconds; longer than the lease of a crashed node. */
const timeoutMs = 60_000
const pollMs = 25

/** Polls until the condition holds or the time limit is reached; returns the last value. */
export const until = async <A>(
  poll: () => Promise<A>,
  isReached: (value: A) => boolean,
  waitMs = timeoutMs
): Promise<A> => {
  const deadline = performance.now() + waitMs
  for (;;) {
    const value = await poll()
    if (isReached(value) || performance.now() > deadline) return value
    await sleep(pollMs)
  }
}

const listRuns = async (harness: Harness, eventId: string): Promise<ReadonlyArray<unknown>> =>
  listAt((await harness.request("GET", `/v1/events/${eventId}/runs?limit=100`)).body, "data")

const has = (status: string) => (run: unknown) => at(run, "status") === status

/** True if the node crashed: the delivery is retried. A crash of the runner counts as an attempt. */
const isLost = (run: unknown): boolean => at(run, "result", "error", "name") === "NodeLost"
const isRunnerFailure = (run: unknown): boolean => runnerErrors.has(at(run, "result", "error", "name"))
/** True if a host call of the run met an unavailable database: a normal attempt. */
const isDatabaseFailure = (run: unknown): boolean => at(run, "result", "error", "name") === "StoreUnavailable"
/** Quarantined: a build that was active in several killed runners is blamed for it. */
const runnerErrors: ReadonlySet<unknown> = new Set(["RunnerLost", "Quarantined"])

/** Checks that one run of the event succeeded, with this result if given; all others were lost or failed as planned. */
export const succeedsOnce =
  (harness: Harness, eventId: string, expected?: unknown) => async (): Promise<string | null> => {
    const runs = await until(
      () => listRuns(harness, eventId),
      (found) => found.some(has("succeeded")) && !found.some(has("running")),
      // Killed runners end most runs for good.
      harness.areRunnersKilled ? 2_000 : timeoutMs
    )
    const succeeded = runs.filter(has("succeeded"))
    const ended = runs.filter(isRunnerFailure)
    for (const run of [...runs.filter(isLost), ...ended]) harness.lost.add(String(at(run, "run_id")))
    if (harness.areRunnersKilled && ended.length > 0 && succeeded.length === 0) return null
    if (succeeded.length !== 1) return `${succeeded.length} runs succeeded: ${JSON.stringify(runs)}`
    const isAllowed = (run: unknown) =>
      (harness.areRunnersKilled && isRunnerFailure(run)) || (harness.isDatabaseKilled && isDatabaseFailure(run))
    const bad = runs.filter((run) => !has("succeeded")(run) && !isLost(run) && !isPlanned(run) && !isAllowed(run))
    if (bad.length > 0) return `unexpected failed runs: ${JSON.stringify(bad)}`
    const result = JSON.stringify(at(succeeded[0], "result"))
    return expected === undefined || result === JSON.stringify(expected) ? null : `its result is ${result}`
  }

const isPlanned = (run: unknown): boolean => at(run, "result", "error", "message") === "not yet"

export const hasStatus =
  (harness: Harness, runId: string, status: string, expected?: unknown) => async (): Promise<string | null> => {
    const { status: code, body } = await harness.request("GET", `/v1/runs/${runId}`, { expected: [404] })
    if (code === 404) return "the run does not exist"
    const found = at(body, "data", "status")
    if (found !== status) return `it is ${found}`
    const result = JSON.stringify(at(body, "data", "result"))
    return expected === undefined || result === JSON.stringify(expected) ? null : `its result is ${result}`
  }

/** Checks that no run of the event is still running. */
export const ends = (harness: Harness, eventId: string) => async (): Promise<string | null> => {
  const runs = await until(
    () => listRuns(harness, eventId),
    (found) => found.length > 0 && !found.some(has("running"))
  )
  return runs.some(has("running")) ? `still running: ${JSON.stringify(runs)}` : null
}

/** Returns the response, or null if the outcome of the request is unknown. */
export const ifAnswered = async <A>(request: Promise<A>): Promise<A | null> => {
  try {
    return await request
  } catch (error) {
    if (error instanceof UnknownOutcome) return null
    throw error
  }
}
