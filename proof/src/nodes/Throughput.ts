/** Compares the throughput of several nodes with that of one, on one database and the same processors. */
import { setTimeout as sleep } from "node:timers/promises"
import { load, processorTime } from "@weft/bench/instruments"
import { type Cluster, openCluster } from "./Cluster.ts"

export interface ThroughputOptions {
  readonly counts: ReadonlyArray<number>
  readonly rounds: number
  readonly seconds: number
  readonly progress: (text: string) => void
}

export interface ThroughputRow {
  readonly figure: string
  readonly nodes: number
  /** Median of all rounds. */
  readonly median: number
  /** Ratio to the smallest number of nodes. */
  readonly ratio: number
}

const clients = 32

const source = `
export const onJob = (event) => ({ done: event.event_data.n })
onJob.meta = { event: "job" }
`
const payload = "x".repeat(900)

export const throughput = async (options: ThroughputOptions): Promise<ReadonlyArray<ThroughputRow>> => {
  const measured = new Map<string, Map<number, Array<number>>>()
  for (let round = 1; round <= options.rounds; round++) {
    for (const nodes of options.counts) {
      options.progress(`round ${round} of ${options.rounds}: ${nodes} nodes`)
      for (const [figure, value] of Object.entries(await measure(nodes, options.seconds))) {
        const ofFigure = measured.get(figure) ?? new Map<number, Array<number>>()
        measured.set(figure, ofFigure.set(nodes, [...(ofFigure.get(nodes) ?? []), value]))
      }
    }
  }
  return [...measured].flatMap(([figure, byNodes]) => {
    const base = median(byNodes.get(options.counts[0] ?? 0) ?? [])
    return [...byNodes].map(([nodes, values]) => ({
      figure,
      nodes,
      median: median(values),
      ratio: median(values) / base
    }))
  })
}

const measure = async (nodes: number, seconds: number): Promise<Readonly<Record<string, number>>> => {
  const cluster = await openCluster({ nodes, storage: "folder" })
  try {
    await cluster.deploy("jobs", source)
    await sleep(2_000)
    await publish(cluster, 3, {})
    await waitUntilFinished(cluster)
    const before = await countRuns(cluster)
    const usageBefore = await readUsage(cluster)
    const began = Date.now()
    const published = await publish(cluster, seconds, {})
    await waitUntilFinished(cluster)
    const { runs, last } = await countRuns(cluster)
    const costs = perEvent(await readUsage(cluster), usageBefore, runs - before.runs)
    // All events from here on are due at the same instant.
    const dueAt = Date.now() + (seconds + 5) * 1000
    const delayed = await publish(cluster, seconds, { deliver_at: new Date(dueAt).toISOString() })
    await sleep(Math.max(0, dueAt - Date.now()))
    await waitUntilFinished(cluster)
    const after = await countRuns(cluster)
    return {
      ...costs,
      "published one by one, per second": published.perSecond,
      "published one by one and finished, per second": (runs - before.runs) / ((last - began) / 1000),
      "published: p99, ms": published.p99Ms,
      "stored with a delay, per second": delayed.perSecond,
      "due at once and finished, per second": (after.runs - runs) / ((after.last - dueAt) / 1000)
    }
  } finally {
    await cluster.close()
  }
}

/** Resources used so far: CPU time in seconds, and bytes. */
interface Usage {
  readonly database: number
  readonly servers: number
  readonly runners: number
  readonly stored: number
  readonly logged: number
}

const readUsage = async ({ query, database, slots }: Cluster): Promise<Usage> => {
  const [row] = await query(
    `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS logged, (
      SELECT sum(pg_total_relation_size(oid)) FROM pg_class
      WHERE relnamespace = 'weft'::regnamespace AND relkind = 'r') AS stored`
  )
  const ofDatabase = processorTime(database.pid())
  const ofNodes = slots.map(({ node }) => processorTime(node?.pid ?? 0))
  return {
    database: ofDatabase.own + ofDatabase.below,
    servers: ofNodes.reduce((sum, { own }) => sum + own, 0),
    runners: ofNodes.reduce((sum, { below }) => sum + below, 0),
    stored: Number(row?.stored),
    logged: Number(row?.logged)
  }
}

const perEvent = (after: Usage, before: Usage, events: number): Readonly<Record<string, number>> => {
  const micro = (field: "database" | "servers" | "runners"): number => ((after[field] - before[field]) / events) * 1e6
  return {
    "CPU time per event: database, µs": micro("database"),
    "CPU time per event: servers, µs": micro("servers"),
    "CPU time per event: runners, µs": micro("runners"),
    "bytes of tables and indexes per event": (after.stored - before.stored) / events,
    "bytes of write-ahead log per event": (after.logged - before.logged) / events
  }
}

/** Publishes with all clients, distributed evenly over the nodes. */
const publish = async (
  { slots, key }: Cluster,
  seconds: number,
  more: Readonly<Record<string, string>>
): Promise<{ readonly perSecond: number; readonly p99Ms: number }> => {
  const results = await Promise.all(
    slots.map(({ node }) =>
      load({
        urls: [`${node?.url}/v1/events`],
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ event_type: "job", event_data: { n: 1, payload }, ...more }),
        clients: clients / slots.length,
        warmupSeconds: 0,
        seconds
      })
    )
  )
  const failures = results.reduce((sum, result) => sum + result.failures, 0)
  if (failures > 0) throw new Error(`${failures} requests failed`)
  return {
    perSecond: results.reduce((sum, result) => sum + result.perSecond, 0),
    p99Ms: Math.max(...results.map((result) => result.p99Ms))
  }
}

const waitUntilFinished = async ({ query }: Cluster): Promise<void> => {
  for (let idlePolls = 0; idlePolls < 2; await sleep(250)) {
    const [row] = await query(
      "SELECT (SELECT count(*) FROM deliveries) + (SELECT count(*) FROM runs WHERE status = 'running') AS open"
    )
    idlePolls = Number(row?.open) === 0 ? idlePolls + 1 : 0
  }
}

const countRuns = async ({ query }: Cluster): Promise<{ readonly runs: number; readonly last: number }> => {
  const [row] = await query(
    "SELECT count(*) AS runs, max(stop_time) AS last, count(*) FILTER (WHERE status <> 'succeeded') AS wrong FROM runs"
  )
  if (Number(row?.wrong) > 0) throw new Error(`${row?.wrong} runs did not succeed`)
  return { runs: Number(row?.runs), last: Number(row?.last) }
}

const median = (values: ReadonlyArray<number>): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
