/** Runs that match the filters of the page, for actions that the page applies to each of them. */
import type { Run } from "@weft/client"
import { weft } from "../api/client.ts"
import { type RunFilters, toRunsQuery } from "./RunFilters.ts"

/** Maximum runs of one action. */
export const selectedMax = 1000

const pageSize = 100

/** Runs that match, at most `selectedMax`. */
interface Selection {
  readonly runs: ReadonlyArray<Run>
  /** All runs that match. */
  readonly total: number
}

/** Reads the runs page by page. A page of large results may have fewer runs than requested. */
export const selectRuns = async (filters: RunFilters): Promise<Selection> => {
  const { include: _include, ...query } = toRunsQuery(filters)
  const runs: Array<Run> = []
  let total = 0
  while (runs.length < selectedMax) {
    const limit = Math.min(pageSize, selectedMax - runs.length)
    const page = await weft.runs.list({ ...query, limit, offset: runs.length })
    runs.push(...page.items)
    total = page.total
    if (page.items.length === 0 || runs.length >= total) break
  }
  return { runs, total }
}

export interface Progress {
  readonly done: number
  readonly failed: number
  /** Message of the first failure, or null. */
  readonly message: string | null
}

export const noProgress: Progress = { done: 0, failed: 0, message: null }

/** Requests in flight. */
const lanes = 4

/** Applies the action to each run, a few at a time, until the signal aborts. Continues after failures. */
export const applyToRuns = async (
  runs: ReadonlyArray<Run>,
  action: (run: Run) => PromiseLike<unknown>,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal
): Promise<Progress> => {
  let progress = noProgress
  const pending = runs.values()
  const work = async () => {
    for (const run of pending) {
      if (signal.aborted) return
      try {
        await action(run)
        progress = { ...progress, done: progress.done + 1 }
      } catch (error) {
        progress = { ...progress, failed: progress.failed + 1, message: progress.message ?? String(error) }
      }
      onProgress(progress)
    }
  }
  await Promise.all(Array.from({ length: lanes }, work))
  return progress
}
