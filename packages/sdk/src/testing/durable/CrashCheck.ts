/** Replays a function from each prefix of its history, as if its process had crashed there, and compares its requests. */
import { namedError } from "../failures.ts"
import type { Activation } from "./Activation.ts"
import type { MadeRequest, Warning } from "./ActivationHost.ts"
import { formatPlace } from "./callSite.ts"
import type { DurableRun, RunEnding } from "./DurableRun.ts"
import { describeRequest } from "./History.ts"

export interface CrashOptions {
  /** True to reject for warnings as well. */
  readonly strict?: boolean
}

export interface CrashReport {
  /** Number of replays: one for each prefix of the history. */
  readonly replays: number
  /** Calls outside of steps that a replay repeats, or whose result may change. */
  readonly warnings: ReadonlyArray<Warning>
}

/** Rejects with `NonDeterminism` if a replay differs from the run. */
export const checkCrashes = async (run: DurableRun, { strict = false }: CrashOptions): Promise<CrashReport> => {
  const problems = new Set<string>()
  const total = run.history.length
  for (let length = 0; length <= total; length++) {
    const replay = await run.replay(length, length + 1)
    const found = findDifference(run, replay, length)
    if (found !== null) problems.add(found)
    for (const request of replay.requests) noteDetails(run, request)
  }
  const warnings = [...run.warnings]
  if (problems.size === 0 && (!strict || warnings.length === 0)) return { replays: total + 1, warnings }
  // A warning may be the cause.
  const lines = [...problems, ...warnings.map(describeWarning)]
  const name = problems.size > 0 ? "NonDeterminism" : "SideEffects"
  throw namedError(name, `A replay of the function after a crash would differ:\n- ${lines.join("\n- ")}`)
}

const describeWarning = ({ call, problem, at }: Warning): string => `${call}${formatPlace(at)} ${problem}`

/** Returns the first difference; null without one. */
const findDifference = (run: DurableRun, replay: Activation, length: number): string | null => {
  const after = `after ${length} of ${run.history.length} results`
  for (const request of replay.requests) {
    const before = run.requests[request.seq]
    if (before === undefined) return `${after}, request ${describe(request)} is new`
    if (before.kind !== request.kind || before.name !== request.name) {
      return `${after}, request ${describe(request)} was ${describeAt(before)} before`
    }
  }
  const isWhole = length === run.history.length
  const expected = isWhole ? run.requests.length : (run.requestsAt[length] ?? 0)
  const missing = run.requests[replay.requests.length]
  if (replay.requests.length < expected && missing !== undefined) {
    return `${after}, request ${describe(missing)} is not made${describeEnd(replay.ending)}`
  }
  return isWhole ? compareEndings(run.ending, replay.ending) : compareEarly(after, replay.ending)
}

const compareEarly = (after: string, ending: RunEnding | null): string | null =>
  ending === null ? null : `${after}, the function ends${describeEnd(ending)}`

const compareEndings = (before: RunEnding | null, now: RunEnding | null): string | null => {
  if (before?.status === "cancelled" || (before?.status === "failed" && before.error.name === "TimedOut")) return null
  const [was, is] = [toText(before), toText(now)]
  return was === is
    ? null
    : `with all results, the function ended with ${was} before and ends with ${is} now: data may have left a step by a variable`
}

/** Warns if the arguments of a request change. The arguments at its first execution count. */
const noteDetails = (run: DurableRun, request: MadeRequest): void => {
  const before = run.requests[request.seq]
  if (before === undefined || before.details === request.details || before.kind !== request.kind) return
  run.warn({ call: describeRequest(request), problem: "has other arguments in a replay", at: request.at() })
}

const describe = (request: MadeRequest): string => `${request.seq} ${describeAt(request)}`

const describeAt = (request: MadeRequest): string => `${describeRequest(request)}${formatPlace(request.at())}`

const describeEnd = (ending: RunEnding | null): string => (ending === null ? "" : ` with ${toText(ending)}`)

const toText = (ending: RunEnding | null): string => {
  switch (ending?.status) {
    case undefined:
      return "no result yet"
    case "succeeded":
      return ending.text
    case "continued":
      return `continueAsNew(${JSON.stringify(ending.args)})`
    case "failed":
      return `${ending.error.name}: ${ending.error.message}`
    case "cancelled":
      return "its cancellation"
  }
}
