/** The proof of crashes at every point: see `Sweep.ts`. */

import { draws } from "@weft/tooling/draws"
import type { Proof } from "../Proof.ts"
import { operationNames, type SweepResult, sweep } from "./Sweep.ts"

const sweeps = [
  { database: "sqlite", target: "server", words: "server on SQLite" },
  { database: "sqlite", target: "runners", words: "runners" },
  { database: "postgres", target: "server", words: "server on PostgreSQL" },
  { database: "postgres", target: "database", words: "all of PostgreSQL" },
  { database: "postgres", target: "backend", words: "one PostgreSQL backend" }
] as const

export const crashProof: Proof = {
  title: "A crash at every point",
  does: `A client performs every kind of operation: events with keys, delays, retries and groups, webhooks, calls,
cancellations and schedules. It also uploads files in one request and in parts, and changes deployments, secrets,
credentials, domains, projects, tenants and the master key. SIGKILL ends the server before and after each call of a store, the blobs, the cluster bus
and the sandbox that these operations make. Then, at the same points, it ends the runners, all of PostgreSQL, or one of
its backends. After each crash another server starts on the same data if needed, and every acknowledged operation is
checked. At the end, the records are counted and compared with the blobs.

A durable function makes 33 requests: 19 steps, also side by side and with failed attempts, sleeps, waits for events, tokens
and child runs. The client publishes the awaited event, and completes tokens by name and by URL. One child run continues as
a new run. Another is a saga that fails, so that its steps are undone. A further function is cancelled and cleans up. The
start, each result, each wait, each suspension and the end of these runs is a point of its own. Steps report each execution
of their bodies.`,
  shows: `every acknowledged operation is stored, and a delivery succeeds once. An interrupted operation is repeated or has no
effect. Counters match the rows that they count. Runners do not outlive their server, and blobs without a record are
removed. Every durable run ends as planned, and so does each of its child runs. Each of its requests has one record. The
body of a step is executed before its record, never after it, and repeated only by its attempts and the crash. The function
received what is recorded, and steps are undone once, in reverse order. Tests plant violations, and the audit finds them.`,
  doesNotShow: `a power failure, after which a disk may lack data that the system had not flushed. For that,
\`examples/standalone/test/crashDurable.e2e.test.ts\` compares system calls with responses. It also does not plan two
crashes at the same time, or during the same durable run.`,
  list: () => operationNames,
  run: async ({ seeds, seed, minutes, only, progress }) => {
    const rounds = seeds ?? 1
    const random = draws(seed ?? 1)
    const began = performance.now()
    /** Each sweep gets an equal share of the time limit. */
    const shareMs = minutes === null ? Number.POSITIVE_INFINITY : (minutes * 60_000) / (rounds * sweeps.length)
    let done = 0
    const totals = new Map<string, number>()
    const count = (label: string, value: number): void => void totals.set(label, (totals.get(label) ?? 0) + value)
    const failures: Array<string> = []
    const missed = new Set<string>()
    for (let round = 0; round < rounds; round++) {
      for (const { words, ...which } of sweeps) {
        const swept: SweepResult = await sweep({
          ...which,
          isEveryOperation: round > 0,
          ...(only === undefined ? {} : { operations: only.split(",") }),
          random,
          deadline: began + ++done * shareMs,
          progress: (text) => progress(`${words}: ${text}`)
        })
        count(`points found: ${words}`, swept.points)
        count(`crashes injected: ${words}`, swept.crashed)
        count("points that a second run did not reach", swept.missed.length)
        count("points skipped by the time limit", swept.skipped)
        count("acknowledged requests", swept.acknowledged)
        count("requests without a response", swept.unanswered)
        count("checks of acknowledged operations", swept.checks)
        count("lost runs, as allowed", swept.lostRuns)
        count("violations", swept.violations.length)
        failures.push(...swept.violations.map((text) => `${words}: ${text}`))
        for (const point of swept.missed) missed.add(point)
      }
    }
    const notes = [...missed].map((point) => `not reached in a second run: ${point}`)
    return { figures: [...totals], failures, notes }
  }
}
