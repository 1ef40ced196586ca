/** Counts of a period that ends now, which follow the activity of the environment. */
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/solid-query"
import { weft } from "../api/client.ts"
import { refreshOnActivity } from "../live/Live.ts"
import { type Period, seriesQuery } from "./series.ts"

/** Minimum interval of updates, in milliseconds: the shortest step. */
const refreshMs = 60_000

/** Time in which nodes store their counts, with a margin, in milliseconds. */
const countedMs = 12_000

const isAny = () => true

interface Scope {
  readonly project?: string | undefined
  /** `ns/var` of the project. */
  readonly fn?: string | undefined
}

export const useSeries = (period: () => Period, scope: () => Scope = () => ({})) => {
  const client = useQueryClient()
  refreshOnActivity(() => void client.invalidateQueries({ queryKey: ["series"] }), refreshMs, isAny, countedMs)
  return useQuery(() => ({
    queryKey: ["series", period(), scope()],
    queryFn: () => weft.runs.series({ ...seriesQuery(period(), Date.now()), ...scope() }),
    placeholderData: keepPreviousData
  }))
}
