/** Nodes under fire: `nodes/Chaos.ts` as a proof. */
import { chaos } from "../nodes/Chaos.ts"
import { faultKinds } from "../nodes/Faults.ts"
import type { Proof } from "./Proof.ts"

export const chaosProof: Proof = {
  title: "Nodes under fire",
  does: `Three nodes on one durable PostgreSQL and one S3, under a steady load of events (with retries, groups, delays,
idempotency), calls, webhooks, schedules and streams, while nodes are killed, stopped, cut off and restarted and the
database crashes, in an order that the seed says.`,
  shows: `that what was acknowledged is there after real crashes of real processes and has run as its policy says, once
where it succeeded; that schedules fire once for each time, that groups keep their limits, that watchers who come back
are told all of it, and that clients are refused only while something is wrong, with a word when to come back.`,
  doesNotShow: `loss of the database's disk, a PostgreSQL that fails over to a replica, clocks of several machines, or a
network between them: all of it is on one.`,
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
    if (violations > 0) progress(`the nodes' output is in ${logs}`)
    return {
      figures: [
        ...Object.entries(faults).map(([kind, count]): readonly [string, number] => [`injected: ${kind}`, count]),
        ...figures,
        ["violations", violations]
      ],
      failures: findings.flatMap(({ what, count, samples }) =>
        count === 0 ? [] : [`${what}: ${count}, such as ${samples[0] ?? "nothing that could be told"}`]
      ),
      notes: Object.entries(settings).map(([name, value]) => `${name}: ${value}`)
    }
  }
}
