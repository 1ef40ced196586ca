/** Counts of a period that ends now, which follow the activity of the environment. */
import { keepPreviousData, useQuery } from "@tanstack/solid-query"
import { weft } from "../api/client.ts"
import { refreshOnActivity } from "../live/Live.ts"
import { type Period, seriesQuery } from "./series.ts"

/** Minimum interval of updates, in milliseconds: the shortest step. */
const refreshMs = 60_000

/** Minimum age of the counts of longer periods, in milliseconds. Their counts may cost the server many statements. */
const longRefreshMs = 300_000

/** Time in which nodes store their counts, with a margin, in milliseconds. */
const countedMs = 12_000

const isAny = () => true

interface Scope {
  readonly project?: string | undefined
  /** `ns/var` of the project. */
  readonly fn?: string | undefined
}

export const useSeries = (period: () => Period, scope: () => Scope = () => ({})) => {
  const series = useQuery(() => ({
    queryKey: ["series", period(), scope()],
    queryFn: () => weft.runs.series({ ...seriesQuery(period(), Date.now()), ...scope() }),
    placeholderData: keepPreviousData
  }))
  const refresh = () => {
    const age = Date.now() - series.dataUpdatedAt
    if (period() === "1h" || age >= longRefreshMs) void series.refetch()
  }
  refreshOnActivity(refresh, refreshMs, isAny, countedMs)
  return series
}
