/** Counts the statements of idle nodes. */
import { setTimeout as sleep } from "node:timers/promises"
import { openCluster } from "./Cluster.ts"

export interface IdleOptions {
  readonly nodes: number
  readonly minutes: number
  readonly progress: (text: string) => void
}

export interface IdleFigures {
  readonly nodes: number
  readonly minutes: number
  readonly perMinuteAndNode: number
  /** Statements with their number of calls, the most frequent first. */
  readonly statements: ReadonlyArray<{ readonly text: string; readonly calls: number }>
}

/** Delay after which the work of starts and deployments has ended, in milliseconds. */
const settleMs = 90_000

const projects = 5

const source = (index: number): string => `
export const onJob = (event) => event.event_data
onJob.meta = { event: "job:${index}", concurrency: { limit: 2 } }
export const yearly = () => null
yearly.meta = { schedule: "0 0 1 1 *" }
export const hook = () => ({ status: 200 })
hook.meta = { webhook: { service: "hooks-${index}", path: "/hook" } }
`

export const idle = async ({ nodes, minutes, progress }: IdleOptions): Promise<IdleFigures> => {
  const settings = { shared_preload_libraries: "pg_stat_statements", "pg_stat_statements.track_utility": "on" }
  const cluster = await openCluster({ nodes, storage: "folder", settings })
  try {
    const { query, key, deploy } = cluster
    await query("CREATE EXTENSION pg_stat_statements SCHEMA public")
    for (let index = 1; index <= projects; index++) await deploy(`project-${index}`, source(index))
    // Each node runs a handler of each project.
    for (const { node } of cluster.slots) {
      for (let index = 1; index <= projects; index++) {
        await fetch(`${node?.url}/v1/events`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify({ event_type: `job:${index}`, event_data: null })
        }).then((response) => response.text())
      }
    }
    progress(`${nodes} nodes are idle; counting starts in ${settleMs / 1000} s and takes ${minutes} minutes`)
    await sleep(settleMs)
    await query("SELECT pg_stat_statements_reset()")
    await sleep(minutes * 60_000)
    const rows = await query(
      `SELECT query, sum(calls) AS calls FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'
        GROUP BY query ORDER BY calls DESC, query`
    )
    const statements = rows.map((row) => ({
      text: String(row.query).replace(/\s+/g, " ").trim(),
      calls: Number(row.calls)
    }))
    const total = statements.reduce((sum, { calls }) => sum + calls, 0)
    return { nodes, minutes, perMinuteAndNode: total / minutes / nodes, statements }
  } finally {
    await cluster.close()
  }
}
