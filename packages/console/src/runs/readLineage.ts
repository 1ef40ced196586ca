/** Reads the runs around a run. The API has no list of the runs that a run caused, so it searches those that began next. */
import { type Run, WeftError } from "@weft/client"
import { weft } from "../api/client.ts"
import { buildLineage, descendantsOf, idAt, type LineageNode } from "./Lineage.ts"

/** Maximum origins that are followed. */
const ancestorsMax = 10

/** Time after the end of a run in which its effects are searched, in milliseconds. */
const searchedMs = 60_000

const pageSize = 100

/** Length of the first search between many runs, in milliseconds, and the number of searches, each four times as long. */
const firstWindowMs = 500
const windowsMax = 5

export interface Lineage {
  readonly root: LineageNode
  /** Time until which all effects are known. */
  readonly searchedUntil: string
  /** False if there were more runs than the page searches. */
  readonly isComplete: boolean
}

/** Returns a run, or null if it was removed. */
const getRun = async (runId: string): Promise<Run | null> => {
  try {
    return await weft.runs.get(runId)
  } catch (error) {
    if (error instanceof WeftError && error.status === 404) return null
    throw error
  }
}

/** Returns the origins of a run, the oldest first. */
const readAncestors = async (run: Run): Promise<ReadonlyArray<Run>> => {
  const ancestors: Array<Run> = []
  let origin = run.origin_run_id
  while (origin !== null && ancestors.length < ancestorsMax) {
    const found: Run | null = await getRun(origin)
    if (found === null) break
    ancestors.unshift(found)
    origin = found.origin_run_id
  }
  return ancestors
}

interface Found {
  readonly runs: ReadonlyArray<Run>
  /** True if the page reached the run after which it searches. */
  readonly isComplete: boolean
}

/** Returns the newest runs between two ids. */
const readBetween = async (after: string, before: string): Promise<Found> => {
  const { items } = await weft.runs.list({ before, limit: pageSize, include: "usage" })
  const last = items.at(-1)
  return {
    runs: items.filter(({ run_id }) => run_id > after),
    // A page of large results may have fewer runs than requested.
    isComplete: last === undefined || last.run_id <= after
  }
}

/**
 * Returns the runs that began after the run and before the instant, with the time until which they are complete. Most
 * effects begin soon. If there are many runs, it therefore searches a short time first, then longer ones.
 */
const readLater = async (run: Run, until: number) => {
  const start = Date.parse(run.start_time)
  const whole = await readBetween(run.run_id, idAt(until))
  if (whole.isComplete) return { runs: whole.runs, searchedUntil: until }
  const runs: Array<Run> = []
  let searchedUntil = start
  let after = run.run_id
  for (let window = 0; window < windowsMax && searchedUntil < until; window++) {
    const end = Math.min(until, start + firstWindowMs * 4 ** window)
    const found = await readBetween(after, idAt(end))
    runs.push(...found.runs)
    if (!found.isComplete) break
    searchedUntil = end
    after = idAt(end)
  }
  return { runs, searchedUntil }
}

export const readLineage = async (run: Run): Promise<Lineage> => {
  const until = (run.stop_time === null ? Date.now() : Date.parse(run.stop_time)) + searchedMs
  const ancestors = await readAncestors(run)
  const { event_id } = ancestors[0] ?? run
  const [later, siblings] = await Promise.all([
    readLater(run, until),
    event_id === null ? [] : weft.events.runs(event_id, { limit: pageSize }).then(({ items }) => items)
  ])
  const named = new Map(later.runs.map((one) => [one.run_id, one]))
  const others = [...siblings.map((one) => named.get(one.run_id) ?? one), ...descendantsOf(run.run_id, later.runs)]
  return {
    root: buildLineage(run, ancestors, others),
    searchedUntil: new Date(later.searchedUntil).toISOString(),
    isComplete: later.searchedUntil === until
  }
}
