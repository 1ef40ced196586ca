/** Several nodes under load while nodes are killed, stopped and disconnected and the database crashes. */
import { setTimeout as sleep } from "node:timers/promises"
import { draws } from "@weft/tooling/draws"
import { type Client, makeClient } from "./Client.ts"
import { type Cluster, type ClusterOptions, openCluster } from "./Cluster.ts"
import { type EnvWatcher, watchEnv } from "./EnvWatcher.ts"
import { stillRunning } from "./Evidence.ts"
import { type FaultRunner, faultRunner } from "./FaultRunner.ts"
import { type FaultKind, plan } from "./Faults.ts"
import { flowSource } from "./FlowGuest.ts"
import { completeTokens } from "./FlowLoad.ts"
import { source } from "./Guest.ts"
import { Ledger } from "./Ledger.ts"
import { beginLoad } from "./Load.ts"
import { type MemoryFigures, watchMemory } from "./MemoryWatch.ts"
import { type StreamWatchers, watchStreams } from "./StreamWatcher.ts"
import type { Period } from "./TimeChecks.ts"
import { evaluate, type Verdict } from "./Verdict.ts"

export interface ChaosOptions {
  readonly minutes: number
  readonly nodes: number
  readonly seed: number
  /** Requests per second. */
  readonly rate: number
  readonly storage: ClusterOptions["storage"]
  readonly leaseMs: number
  readonly kinds: ReadonlyArray<FaultKind>
  /** Minimum and maximum pause after a fault, in milliseconds. */
  readonly restMs: readonly [number, number]
  readonly memoryMiB: number
  readonly progress: (text: string) => void
}

/** Everything that was observed. */
export interface Observed {
  readonly cluster: Cluster
  readonly ledger: Ledger
  readonly faults: FaultRunner
  readonly watchers: ReadonlyArray<EnvWatcher>
  readonly streams: StreamWatchers
  readonly memory: MemoryFigures
  readonly period: Period
  readonly options: ChaosOptions
  /** Time from the last request until all work had ended, in milliseconds. */
  readonly settledMs: number
}

const envWatchers = 3
const streamWatchers = 3

/** Delay before the first fault, in milliseconds. */
const warmupMs = 3_000

/** Maximum time in which nodes end all work, in milliseconds. */
const settleWithinMs = 240_000

export const chaos = async (options: ChaosOptions): Promise<Verdict> => {
  const { nodes, storage, leaseMs, progress } = options
  progress(`starting ${nodes} nodes`)
  // Activity of a dead node is replayed when its death is detected, if the buffer holds it: over a minute at this load.
  const variables = { WEFT_LIMIT_LEASE_MS: String(leaseMs), WEFT_LIMIT_REPLAY: "30000" }
  const cluster = await openCluster({ nodes, storage, variables })
  try {
    await cluster.deploy("chaos", source + flowSource)
    // The other nodes receive the message about the deployment.
    await sleep(2_000)
    const ledger = new Ledger()
    const random = draws(options.seed)
    const client = makeClient(cluster, ledger, draws(options.seed + 1))
    const faults = faultRunner(cluster, ledger, progress)
    const watchers = await Promise.all(
      Array.from({ length: envWatchers }, (_, index) =>
        watchEnv(client, ledger, draws(options.seed + 2 + index), cluster.key)
      )
    )
    const streams = watchStreams(client, ledger, draws(options.seed + 99), cluster.key, streamWatchers)
    const sender = { client, ledger, random: draws(options.seed + 98) }
    const tokens = completeTokens(sender, cluster.query)
    const memory = watchMemory(cluster)
    const from = Date.now()
    await runFaults(options, client, ledger, faults)
    const to = Date.now()
    progress("the last request has ended")
    const settledMs = await settled(cluster, to, progress)
    await Promise.all([streams.stop(), tokens.stop()])
    // The last messages have arrived by now.
    await sleep(5_000)
    for (const watcher of watchers) await watcher.stop()
    const observed = { cluster, ledger, faults, watchers, streams, options, settledMs }
    return await evaluate({ ...observed, memory: memory.stop(), period: { from, to } }, random)
  } finally {
    await cluster.close()
  }
}

/** Applies the load and one fault after the other. Each kind occurs at least once, even if that exceeds the time. */
const runFaults = async (
  { minutes, seed, rate, nodes, kinds, leaseMs, restMs }: ChaosOptions,
  client: Client,
  ledger: Ledger,
  faults: FaultRunner
): Promise<void> => {
  const until = performance.now() + minutes * 60_000
  const load = beginLoad(client, ledger, draws(seed + 1_000), rate, { withFlows: true })
  const running = new Set<Promise<void>>()
  const restarting = setInterval(faults.restartExited, 500)
  await sleep(warmupMs)
  let begun = 0
  for (const fault of plan(draws(seed), { kinds, slots: nodes, leaseMs, restMs })) {
    if (begun >= kinds.length && performance.now() + fault.lastsMs > until) break
    begun++
    const healed = faults.run(fault)
    running.add(healed)
    void healed.finally(() => running.delete(healed))
    if (fault.restMs === 0) continue
    await Promise.all(running)
    await sleep(fault.restMs)
  }
  await Promise.all(running)
  await sleep(Math.max(0, until - performance.now()))
  await load.stop()
  clearInterval(restarting)
}

/** Waits until all work that began before `to` has ended; returns the time that it took, in milliseconds. */
const settled = async ({ query }: Cluster, to: number, progress: (text: string) => void): Promise<number> => {
  const began = performance.now()
  for (let reportedAt = began; ; await sleep(500)) {
    const [open] = await query(
      `SELECT (SELECT count(*) FROM deliveries d JOIN events e USING (env_id, event_id) WHERE e.created_at <= $1::bigint) AS pending,
        (SELECT count(*) FROM runs WHERE ${stillRunning}) AS running,
        (SELECT count(*) FROM schedules WHERE cron IS NULL) AS later`,
      [String(to)]
    )
    const counts = [Number(open?.pending), Number(open?.running), Number(open?.later)]
    const took = performance.now() - began
    if (counts.every((count) => count === 0) || took > settleWithinMs) return took
    if (performance.now() - reportedAt < 10_000) continue
    reportedAt = performance.now()
    progress(`waiting for ${counts[0]} deliveries, ${counts[1]} runs, ${counts[2]} schedules`)
  }
}
