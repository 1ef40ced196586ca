/** The latest canary of a project. */
import { useQuery } from "@tanstack/solid-query"
import { type Canary, WeftError } from "@weft/client"
import { weft } from "../api/client.ts"

/** Interval of updates of an active canary, in milliseconds. */
const followMs = 2_000

/** Returns the latest canary, or null if the project never had one. */
const readCanary = async (project: string): Promise<Canary | null> => {
  try {
    return await weft.canaries.get(project)
  } catch (error) {
    if (error instanceof WeftError && error.status === 404) return null
    throw error
  }
}

export const useCanary = (project: () => string) =>
  useQuery(() => ({
    queryKey: ["canary", project()],
    queryFn: () => readCanary(project()),
    refetchInterval: ({ state }) => (state.data?.state === "active" ? followMs : false)
  }))
