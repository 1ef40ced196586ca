/** How much more several nodes do than one, on one database and the same processors. */
import { setTimeout as sleep } from "node:timers/promises"
import { load } from "../load/Load.ts"
import { processorTime } from "../targets/ProcessorTime.ts"
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
  /** Of all rounds. */
  readonly median: number
  /** Against the smallest number of nodes. */
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
    await finished(cluster)
    const before = await counted(cluster)
    const spentBefore = await spent(cluster)
    const began = Date.now()
    const published = await publish(cluster, seconds, {})
    await finished(cluster)
    const { runs, last } = await counted(cluster)
    const costs = perEvent(await spent(cluster), spentBefore, runs - before.runs)
    // All that is published from here on is due at one instant.
    const dueAt = Date.now() + (seconds + 5) * 1000
    const waiting = await publish(cluster, seconds, { deliver_at: new Date(dueAt).toISOString() })
    await sleep(Math.max(0, dueAt - Date.now()))
    await finished(cluster)
    const after = await counted(cluster)
    return {
      ...costs,
      "published one by one, per second": published.perSecond,
      "published one by one and finished, per second": (runs - before.runs) / ((last - began) / 1000),
      "published: p99, ms": published.p99Ms,
      "stored to be due later, per second": waiting.perSecond,
      "due at once and finished, per second": (after.runs - runs) / ((after.last - dueAt) / 1000)
    }
  } finally {
    await cluster.close()
  }
}

/** What has been used up so far: processor time in seconds, and bytes. */
interface Spent {
  readonly database: number
  readonly servers: number
  readonly runners: number
  readonly stored: number
  readonly logged: number
}

const spent = async ({ ask, database, slots }: Cluster): Promise<Spent> => {
  const [row] = await ask(
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

const perEvent = (after: Spent, before: Spent, events: number): Readonly<Record<string, number>> => {
  const micro = (field: "database" | "servers" | "runners"): number => ((after[field] - before[field]) / events) * 1e6
  return {
    "processor time per event: database, µs": micro("database"),
    "processor time per event: servers, µs": micro("servers"),
    "processor time per event: runners, µs": micro("runners"),
    "bytes of tables and indexes per event": (after.stored - before.stored) / events,
    "bytes of write-ahead log per event": (after.logged - before.logged) / events
  }
}

/** By all clients, shared out evenly among the nodes. */
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

const finished = async ({ ask }: Cluster): Promise<void> => {
  for (let calm = 0; calm < 2; await sleep(250)) {
    const [row] = await ask(
      "SELECT (SELECT count(*) FROM deliveries) + (SELECT count(*) FROM runs WHERE status = 'running') AS open"
    )
    calm = Number(row?.open) === 0 ? calm + 1 : 0
  }
}

const counted = async ({ ask }: Cluster): Promise<{ readonly runs: number; readonly last: number }> => {
  const [row] = await ask(
    "SELECT count(*) AS runs, max(stop_time) AS last, count(*) FILTER (WHERE status <> 'succeeded') AS wrong FROM runs"
  )
  if (Number(row?.wrong) > 0) throw new Error(`${row?.wrong} runs did not succeed`)
  return { runs: Number(row?.runs), last: Number(row?.last) }
}

const median = (values: ReadonlyArray<number>): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
