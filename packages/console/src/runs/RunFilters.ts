/** Filters of runs, which are the query of the page's URL. */

import { useSearchParams } from "@solidjs/router"
import type { RunsListQuery } from "@weft/client"

export const statuses = ["running", "succeeded", "failed", "cancelled"] as const
export const types = ["event", "schedule", "call", "run"] as const
export const waits = ["any", "timer", "event", "run", "token", "retry"] as const

/** Periods by name, as ISO 8601 durations. */
export const periods = { "1h": "PT1H", "24h": "P1D", "7d": "P7D", "30d": "P30D" } as const

export interface RunFilters {
  readonly status: string
  readonly type: string
  readonly period: string
  readonly waiting: string
  readonly fn: string
  readonly project: string
  readonly error: string
}

export const noFilters: RunFilters = {
  ...{ status: "", type: "", period: "", waiting: "" },
  ...{ fn: "", project: "", error: "" }
}

const pick = <T extends string>(values: ReadonlyArray<T>, value: string): T | undefined =>
  values.find((one) => one === value)

/** Returns the API's query. Ignores values that do not exist, which somebody may have typed into the URL. */
export const toRunsQuery = ({ status, type, period, waiting, ...texts }: RunFilters): RunsListQuery => {
  const chosen = {
    ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== "")),
    status: pick(statuses, status),
    type: pick(types, type),
    waiting: pick(waits, waiting),
    time_range: Object.entries(periods).find(([name]) => name === period)?.[1]
  }
  return { ...chosen, include: "usage" }
}

/** Returns the filters in the URL, and a function that changes them. An empty value removes a filter. */
export const useRunFilters = () => {
  const [params, setParams] = useSearchParams<Record<keyof RunFilters, string>>()
  const read = (name: keyof RunFilters): string => {
    const value = params[name]
    return typeof value === "string" ? value : ""
  }
  const filters = (): RunFilters => ({
    status: read("status"),
    type: read("type"),
    period: read("period"),
    waiting: read("waiting"),
    fn: read("fn"),
    project: read("project"),
    error: read("error")
  })
  const isFiltered = (): boolean => Object.values(filters()).some((value) => value !== "")
  return { filters, isFiltered, setFilters: (change: Partial<RunFilters>) => setParams(change) }
}
