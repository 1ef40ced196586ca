/** The proof of nodes with faults: see `Chaos.ts`. */

import type { Proof } from "../Proof.ts"
import { chaos } from "./Chaos.ts"
import { faultKinds } from "./Faults.ts"

export const chaosProof: Proof = {
  title: "Nodes with faults",
  does: `Three nodes run on one durable PostgreSQL and one S3. The load is steady: events (with retries, groups, delays and
idempotency), calls, webhooks, schedules, streams and durable functions. These have steps one after another and side by
side, sleeps, waits for events, a token, a child run, and steps that are undone. Meanwhile nodes are killed, stopped,
disconnected and restarted, and the database crashes. The seed determines the order.`,
  shows: `acknowledged requests survive crashes of real processes. Their handlers ran according to their policy, and succeeded
once. Schedules fire once for each time, groups keep their limits, and watchers receive everything after a reconnect.
Requests fail only during faults, with a \`Retry-After\` header. Durable functions end. Each of their requests has one
result, which the function received, and recorded bodies do not run again. Sleeps and timeouts do not end early. Waits lose
no event, tokens are completed once, and steps are undone in reverse order.`,
  doesNotShow: `loss of the database's disk, failover of PostgreSQL to a replica, or clocks and networks of several machines. All
processes run on one machine. A node that was stopped for longer than its lease may execute the body of a recorded step
before it detects that. Such results are not recorded.`,
  run: async ({ minutes, seed, progress }) => {
    const verdict = await chaos({
      minutes: minutes ?? 30,
      nodes: 3,
      seed: seed ?? 1,
      rate: 50,
      storage: "s3",
      leaseMs: 30_000,
      kinds: faultKinds,
      restMs: [3_000, 12_000],
      memoryMiB: 768,
      progress
    })
    const { settings, figures, faults, findings, violations, logs } = verdict
    if (violations > 0) progress(`the output of the nodes is in ${logs}`)
    return {
      figures: [
        ...Object.entries(faults).map(([kind, count]): readonly [string, number] => [`injected: ${kind}`, count]),
        ...figures,
        ["violations", violations]
      ],
      failures: findings.flatMap(({ what, count, samples }) =>
        count === 0 ? [] : [`${what}: ${count}, such as ${samples[0] ?? "no example"}`]
      ),
      notes: Object.entries(settings).map(([name, value]) => `${name}: ${value}`)
    }
  }
}
