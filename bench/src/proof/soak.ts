/** A mixed load for an hour if nothing else is said, on one server with SQLite and on three nodes with PostgreSQL. */
import { clusterPlace, sqlitePlace } from "../soak/Place.ts"
import { type SoakOptions, soak } from "../soak/Soak.ts"
import { verdictOf } from "../soak/Verdict.ts"
import type { Proof } from "./Proof.ts"

const shareOfCapacity = 0.7

const does = `at 70 % of what it bears, which is measured before: events with retries, groups, delays and idempotency,
calls, webhooks, schedules, streams and subscribers that come and go, files up and down, variables, sessions, keys,
projects made and removed, runs cancelled. Every few seconds memory, descriptors, threads, latencies and rows are looked at;
every event and run of each minute is compared with what had to become of it. Ended runs are kept for minutes only, so that
tables have to come to rest.`

const shows = `that what is not kept on purpose does not grow: memory, heap, descriptors, threads, processes, latencies, the
write-ahead log, rows of all tables but those that are named; that nothing acknowledged is missing, and that no request
fails when nothing is wrong.`

const proofOf = (where: string, open: SoakOptions["open"]): Proof => ({
  title: `Steady load, ${where}`,
  does: `The load of a busy day, ${does}`,
  shows,
  doesNotShow: `what grows by less in an hour than the tolerance that stands beside each figure, or only with what no client
here does; events are never removed, and so the database itself grows.`,
  run: async ({ minutes, seed, share, rate, progress }) => {
    const load = rate ?? { share: share ?? shareOfCapacity }
    return verdictOf(await soak({ open, minutes: minutes ?? 60, rate: load, seed: seed ?? 1, progress }))
  }
})

export const soakProof = proofOf("one server on SQLite", sqlitePlace)
export const soakNodesProof = proofOf("three nodes on PostgreSQL", clusterPlace)
