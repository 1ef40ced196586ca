/**
 * Several nodes under load while nodes are killed, stopped and cut off and the database crashes, and what became of
 * all that was sent.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { draws } from "@weft/tooling/draws"
import { type Client, makeClient } from "./Client.ts"
import { type Cluster, type ClusterOptions, openCluster } from "./Cluster.ts"
import { type EnvWatcher, watchEnv } from "./EnvWatcher.ts"
import { stillRunning } from "./Evidence.ts"
import { type FaultRunner, faultRunner } from "./FaultRunner.ts"
import { type FaultKind, plan } from "./Faults.ts"
import { source } from "./Guest.ts"
import { Ledger } from "./Ledger.ts"
import { beginLoad } from "./Load.ts"
import { type MemoryFigures, watchMemory } from "./MemoryWatch.ts"
import { type StreamWatchers, watchStreams } from "./StreamWatcher.ts"
import type { Period } from "./TimeChecks.ts"
import { judge, type Verdict } from "./Verdict.ts"

export interface ChaosOptions {
  readonly minutes: number
  readonly nodes: number
  readonly seed: number
  /** Requests in a second. */
  readonly rate: number
  readonly storage: ClusterOptions["storage"]
  readonly leaseMs: number
  readonly kinds: ReadonlyArray<FaultKind>
  /** Pause after a fault, least and most, in milliseconds. */
  readonly restMs: readonly [number, number]
  readonly memoryMiB: number
  readonly progress: (text: string) => void
}

/** All that was observed. */
export interface Observed {
  readonly cluster: Cluster
  readonly ledger: Ledger
  readonly faults: FaultRunner
  readonly watchers: ReadonlyArray<EnvWatcher>
  readonly streams: StreamWatchers
  readonly memory: MemoryFigures
  readonly period: Period
  readonly options: ChaosOptions
  /** How long the nodes took to see all of it through after the last request, in milliseconds. */
  readonly settledMs: number
}

const envWatchers = 3
const streamWatchers = 3

/** Time before the first fault. */
const calmMs = 3_000

/** How long the nodes may take to end all that was begun. */
const settleWithinMs = 240_000

export const chaos = async (options: ChaosOptions): Promise<Verdict> => {
  const { nodes, storage, leaseMs, progress } = options
  progress(`starting ${nodes} nodes`)
  // What a dead node told nobody is told when it is noticed, as far as that many messages go back: for this load over a minute.
  const variables = { WEFT_LIMIT_LEASE_MS: String(leaseMs), WEFT_LIMIT_REPLAY: "30000" }
  const cluster = await openCluster({ nodes, storage, variables })
  try {
    await cluster.deploy("chaos", source)
    // The other nodes hear of the deployment.
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
    const memory = watchMemory(cluster)
    const from = Date.now()
    await underFire(options, client, ledger, faults)
    const to = Date.now()
    progress("the last request was answered")
    const settledMs = await settled(cluster, to, progress)
    await streams.stop()
    // What is told last is told by now, or not at all.
    await sleep(5_000)
    for (const watcher of watchers) await watcher.stop()
    const observed = { cluster, ledger, faults, watchers, streams, options, settledMs }
    return await judge({ ...observed, memory: memory.stop(), period: { from, to } }, random)
  } finally {
    await cluster.close()
  }
}

/** The load, and one fault after the other: each kind once at least, whatever time that takes. */
const underFire = async (
  { minutes, seed, rate, nodes, kinds, leaseMs, restMs }: ChaosOptions,
  client: Client,
  ledger: Ledger,
  faults: FaultRunner
): Promise<void> => {
  const until = performance.now() + minutes * 60_000
  const load = beginLoad(client, ledger, draws(seed + 1_000), rate)
  const running = new Set<Promise<void>>()
  const tending = setInterval(faults.tend, 500)
  await sleep(calmMs)
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
  clearInterval(tending)
}

/** Until nothing of what was begun before `to` waits or runs; how long it took, in milliseconds. */
const settled = async ({ ask }: Cluster, to: number, progress: (text: string) => void): Promise<number> => {
  const began = performance.now()
  for (let told = began; ; await sleep(500)) {
    const [left] = await ask(
      `SELECT (SELECT count(*) FROM deliveries d JOIN events e USING (env_id, event_id) WHERE e.created_at <= $1::bigint) AS waiting,
        (SELECT count(*) FROM runs WHERE ${stillRunning}) AS running,
        (SELECT count(*) FROM schedules WHERE cron IS NULL) AS later`,
      [String(to)]
    )
    const counts = [Number(left?.waiting), Number(left?.running), Number(left?.later)]
    const took = performance.now() - began
    if (counts.every((count) => count === 0) || took > settleWithinMs) return took
    if (performance.now() - told < 10_000) continue
    told = performance.now()
    progress(`waiting for ${counts[0]} deliveries, ${counts[1]} runs, ${counts[2]} schedules`)
  }
}
