/** Latency and fairness of claims with a long queue. */
import { EnvId } from "@weft/core"
import { type ClaimResult, fresh, JournalStore, NodeId, RunId, Timestamp } from "@weft/core/adapter"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { makeEnvId, makeNodeId, pendingDeliveries, type Size } from "./Fill.ts"
import { settled } from "./RunLoop.ts"

const node_id = NodeId.make(makeNodeId(1))
const limit = 100

const claim = (instant: number, exclude: ReadonlyArray<EnvId> = []) =>
  Effect.gen(function* () {
    const store = yield* JournalStore
    const runIds = yield* Effect.replicateEffect(fresh(RunId), limit)
    const now = Timestamp.make(instant)
    const lease = { node_id, until: Timestamp.make(now + 30_000) }
    const began = performance.now()
    const result = yield* store.claim({ lease, now, runIds, perEnv: 128, exclude, freed: [] })
    return { result, ms: performance.now() - began }
  })

const commit = ({ claims }: ClaimResult, instant: number) =>
  Effect.gen(function* () {
    const store = yield* JournalStore
    const now = Timestamp.make(instant)
    const entries = claims.map((it) => settled(it, now, false))
    const began = performance.now()
    yield* store.commit(entries, { node_id, until: Timestamp.make(now + 30_000) })
    return performance.now() - began
  })

/** Returns the median and the 99th percentile, in milliseconds. */
const quantiles = (values: ReadonlyArray<number>): readonly [number, number] => {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return [at(0.5), at(0.99)]
}

export interface ClaimTimes {
  readonly claim: readonly [number, number]
  /** Commits of all runs of a claim. */
  readonly commit: readonly [number, number]
  /** Claims while all deliveries are delayed. */
  readonly idle: readonly [number, number]
  /** Claims while all due deliveries belong to one environment without free slots. */
  readonly excluded: readonly [number, number]
}

export const claimTimes = (sql: SqlClient.SqlClient, { now }: Size, times: number) =>
  Effect.gen(function* () {
    const claims: Array<number> = []
    const commits: Array<number> = []
    for (let n = 0; n < times + 20; n++) {
      const { result, ms } = yield* claim(now)
      if (result.claims.length === 0) throw new Error("The queue is empty; use more deliveries or fewer claims")
      const committed = yield* commit(result, now)
      // The first 20 claims are a warm-up.
      if (n >= 20) {
        claims.push(ms)
        commits.push(committed)
      }
    }
    yield* sql`UPDATE deliveries SET due_at = due_at + 7200000 WHERE due_at < ${now + 1}`
    yield* sql`VACUUM ANALYZE deliveries`
    const idle = yield* Effect.replicateEffect(
      Effect.map(claim(now), ({ ms }) => ms),
      times
    )
    const big = makeEnvId(1)
    for (const statement of pendingDeliveries({ now }, 50_000, "1 + 0 * i")) yield* sql.unsafe(statement)
    yield* sql`VACUUM ANALYZE deliveries`
    const exclude = [EnvId.make(big)]
    const excluded = yield* Effect.replicateEffect(
      Effect.map(claim(now, exclude), ({ ms }) => ms),
      times
    )
    return {
      claim: quantiles(claims),
      commit: quantiles(commits),
      idle: quantiles(idle),
      excluded: quantiles(excluded)
    } satisfies ClaimTimes
  })

export interface Fairness {
  /** Claims until each environment with one delivery was served. */
  readonly claims: number
  /** Deliveries of the backlog that were claimed until then. */
  readonly ofBacklog: number
}

/** One environment has the whole backlog. Each other environment has one delivery, which is due last. */
export const fairness = (sql: SqlClient.SqlClient, { now, envs, deliveries }: Size) =>
  Effect.gen(function* () {
    yield* sql`TRUNCATE deliveries`
    for (const statement of pendingDeliveries({ now: now - 1 }, deliveries, "1 + 0 * i")) yield* sql.unsafe(statement)
    for (const statement of pendingDeliveries({ now }, envs - 1, "1 + i")) yield* sql.unsafe(statement)
    yield* sql`UPDATE deliveries SET due_at = ${now} WHERE env_id <> ${makeEnvId(1)}`
    yield* sql`VACUUM ANALYZE deliveries`
    const unserved = new Set(Array.from({ length: envs - 1 }, (_, index) => makeEnvId(index + 2)))
    let ofBacklog = 0
    for (let claims = 1; claims <= envs; claims++) {
      const { result } = yield* claim(now)
      for (const { delivery } of result.claims) if (!unserved.delete(delivery.env_id)) ofBacklog++
      if (unserved.size === 0) return { claims, ofBacklog } satisfies Fairness
    }
    throw new Error(`${unserved.size} environments were not served within ${envs} claims`)
  })
