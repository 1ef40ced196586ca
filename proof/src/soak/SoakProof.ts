/** The proofs of steady load, by default for an hour: one server on SQLite, and three nodes on PostgreSQL. */

import type { Proof } from "../Proof.ts"
import { type SoakOptions, soak } from "./Soak.ts"
import { openClusterTarget, openSqliteTarget } from "./SoakTarget.ts"
import { summarize } from "./Summary.ts"

const shareOfCapacity = 0.7

const does = `at 70 % of the capacity, which is measured first. The load has events with retries, groups, delays and
idempotency, calls, webhooks, schedules, streams, changing subscribers, files, secrets, sessions, keys, short-lived
projects and cancelled runs. Memory, descriptors, threads, latencies and rows are sampled every few seconds. Every event
and run of each minute is compared with its expected outcome. Ended runs are retained for minutes only, so the size of
tables must become stable.`

const shows = `memory, heap, descriptors, threads, processes, latencies and the write-ahead log do not grow. Neither do the rows of
tables, except for the tables that are named. Nothing acknowledged is lost, and no request fails without a fault.`

const makeProof = (where: string, open: SoakOptions["open"]): Proof => ({
  title: `Steady load, ${where}`,
  does: `A steady load ${does}`,
  shows,
  doesNotShow: `growth below the tolerance of each figure in an hour, or growth that other operations cause. Events are never
removed, so the database itself grows.`,
  run: async ({ minutes, seed, share, rate, progress }) => {
    const load = rate ?? { share: share ?? shareOfCapacity }
    return summarize(await soak({ open, minutes: minutes ?? 60, rate: load, seed: seed ?? 1, progress }))
  }
})

export const soakProof = makeProof("one server on SQLite", openSqliteTarget)
export const soakNodesProof = makeProof("three nodes on PostgreSQL", openClusterTarget)
