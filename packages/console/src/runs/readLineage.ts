/** Reads the runs around a run. The API has no list of the runs that a run caused, so it searches those that began next. */
import { type Run, WeftError } from "@weft/client"
import { weft } from "../api/client.ts"
import { buildLineage, descendantsOf, idAt, type LineageNode } from "./Lineage.ts"

/** Maximum origins that are followed. */
const ancestorsMax = 10

/** Time after the end of a run in which its effects are searched, in milliseconds. */
const searchedMs = 60_000

const pageSize = 100
const pagesMax = 3

export interface Lineage {
  readonly root: LineageNode
  /** Time until which the page has searched, or null if there were more runs than it searched. */
  readonly searchedUntil: string | null
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

/** Returns the runs that began between the start of the run and the instant, the newest first. */
const readLater = async (run: Run, until: number) => {
  const runs: Array<Run> = []
  let before = idAt(until)
  for (let page = 0; page < pagesMax; page++) {
    const { items } = await weft.runs.list({ before, limit: pageSize, include: "usage" })
    runs.push(...items.filter(({ run_id }) => run_id > run.run_id))
    const last = items.at(-1)
    if (last === undefined || last.run_id <= run.run_id) return { runs, isComplete: true }
    before = last.run_id
  }
  return { runs, isComplete: false }
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
    searchedUntil: later.isComplete ? new Date(until).toISOString() : null
  }
}
