/** Death at every point: `crash/Sweep.ts` as a proof. */

import { draws } from "@weft/tooling/draws"
import { type Swept, sweep } from "../crash/Sweep.ts"
import type { Proof } from "./Proof.ts"

const sweeps = [
  { database: "sqlite", target: "server", words: "server on SQLite" },
  { database: "sqlite", target: "runners", words: "runners" },
  { database: "postgres", target: "server", words: "server on PostgreSQL" },
  { database: "postgres", target: "database", words: "PostgreSQL, all of it" },
  { database: "postgres", target: "backend", words: "one process of PostgreSQL" }
] as const

export const crashProof: Proof = {
  title: "Death at every point",
  does: `A client does one of everything: events with keys, delays, retries and groups, webhooks, calls, cancels, schedules,
files whole and in parts, deploys, secrets, credentials, domains, projects, tenants, a new master key. Before and after each
call of a store, of the blobs, of the feed and of the sandbox that this makes, the server is ended with SIGKILL; then, at the
same points, the runners, the whole of PostgreSQL, or one of its processes. After each, another server takes up the data
where there is need of one, and everything that was acknowledged is asked for. In the end the records are counted, and the
folder of bytes is compared with them.`,
  shows: `that no answer was given for what is not stored, that a delivery succeeds once, that what was cut off is done
again or not at all, that counters equal what they count, that runners do not outlive their server, and that bytes
without a record are removed.`,
  doesNotShow: `a loss of power, after which a disk may lack what the system had not written: for that, system calls are
compared with answers in \`examples/standalone/test/crashDurable.e2e.test.ts\`. Two deaths at once, but by chance.`,
  run: async ({ seeds, seed, minutes, progress }) => {
    const rounds = seeds ?? 1
    const random = draws(seed ?? 1)
    const began = performance.now()
    /** Where time is short, each sweep has its share of it. */
    const shareMs = minutes === null ? Number.POSITIVE_INFINITY : (minutes * 60_000) / (rounds * sweeps.length)
    let done = 0
    const totals = new Map<string, number>()
    const count = (label: string, value: number): void => void totals.set(label, (totals.get(label) ?? 0) + value)
    const failures: Array<string> = []
    const missed = new Set<string>()
    for (let round = 0; round < rounds; round++) {
      for (const { words, ...which } of sweeps) {
        const swept: Swept = await sweep({
          ...which,
          isEveryDeed: round > 0,
          random,
          deadline: began + ++done * shareMs,
          progress: (text) => progress(`${words}: ${text}`)
        })
        count(`points found: ${words}`, swept.points)
        count(`points struck: ${words}`, swept.struck)
        count("points that were not passed in their turn", swept.missed.length)
        count("points whose turn did not come for want of time", swept.left)
        count("requests that were acknowledged", swept.acknowledged)
        count("requests that nobody answered", swept.unanswered)
        count("looks at what was acknowledged", swept.factsChecked)
        count("runs that were lost, as they may be", swept.lostRuns)
        count("violations", swept.violations.length)
        failures.push(...swept.violations.map((text) => `${words}: ${text}`))
        for (const point of swept.missed) missed.add(point)
      }
    }
    const notes = missed.size === 0 ? [] : [`Not passed in their turn: ${[...missed].join("; ")}`]
    return { figures: [...totals], failures, notes }
  }
}
