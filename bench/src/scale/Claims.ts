/** How long claims take beside a long queue, and whom they serve. */
import { type ClaimResult, EnvId, fresh, JournalStore, NodeId, RunId, Timestamp } from "@weft/core"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { envOf, nodeOf, type Size, waiting } from "./Fill.ts"
import { settled } from "./RunLoop.ts"

const node_id = NodeId.make(nodeOf(1))
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

/** The median, and what all but one in a hundred stay below, in milliseconds. */
export const quantiles = (values: ReadonlyArray<number>): readonly [number, number] => {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return [at(0.5), at(0.99)]
}

export interface ClaimTimes {
  readonly claim: readonly [number, number]
  /** Of the ends of all the runs of a claim. */
  readonly commit: readonly [number, number]
  /** While nothing is due, but everybody's deliveries wait for later. */
  readonly idle: readonly [number, number]
  /** While all that is due is of one environment, which has no room. */
  readonly excluded: readonly [number, number]
}

export const claimTimes = (sql: SqlClient.SqlClient, { now }: Size, times: number) =>
  Effect.gen(function* () {
    const claims: Array<number> = []
    const commits: Array<number> = []
    for (let n = 0; n < times + 20; n++) {
      const { result, ms } = yield* claim(now)
      if (result.claims.length === 0) throw new Error("There was nothing left to claim")
      const committed = yield* commit(result, now)
      // The first ones are planned, and find nothing in memory.
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
    const big = envOf(1)
    for (const statement of waiting({ now }, 50_000, "1 + 0 * i")) yield* sql.unsafe(statement)
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
  /** Claims until each environment that had one delivery was served. */
  readonly claims: number
  /** How many of the backlog were claimed until then. */
  readonly ofBacklog: number
}

/** One environment has all deliveries but one of each other, which are due last. */
export const fairness = (sql: SqlClient.SqlClient, { now, envs, deliveries }: Size) =>
  Effect.gen(function* () {
    yield* sql`TRUNCATE deliveries`
    for (const statement of waiting({ now: now - 1 }, deliveries, "1 + 0 * i")) yield* sql.unsafe(statement)
    for (const statement of waiting({ now }, envs - 1, "1 + i")) yield* sql.unsafe(statement)
    yield* sql`UPDATE deliveries SET due_at = ${now} WHERE env_id <> ${envOf(1)}`
    yield* sql`VACUUM ANALYZE deliveries`
    const left = new Set(Array.from({ length: envs - 1 }, (_, index) => envOf(index + 2)))
    let ofBacklog = 0
    for (let claims = 1; claims <= envs; claims++) {
      const { result } = yield* claim(now)
      for (const { delivery } of result.claims) if (!left.delete(delivery.env_id)) ofBacklog++
      if (left.size === 0) return { claims, ofBacklog } satisfies Fairness
    }
    throw new Error(`${left.size} environments were not served within ${envs} claims`)
  })
