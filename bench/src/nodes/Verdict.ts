/** Compares what was observed with what had to be. */

import type { Draws } from "@weft/tooling/draws"
import type { Observed } from "./Chaos.ts"
import { type Evidence, gather, stillRunning } from "./Evidence.ts"
import { type Finding, Findings } from "./Findings.ts"
import { checkRuns, runFindings } from "./RunChecks.ts"
import { checkTicks, checkTroubles, checkWatchers, timeFindings } from "./TimeChecks.ts"

export interface Verdict {
  readonly settings: Readonly<Record<string, string | number>>
  readonly figures: ReadonlyArray<readonly [string, number]>
  readonly faults: Readonly<Record<string, number>>
  readonly findings: ReadonlyArray<Finding>
  /** Of all findings. */
  readonly violations: number
  /** Folder of what the nodes wrote. */
  readonly logs: string
}

const apiFindings = ["counts that differ from what is counted", "answers of nodes other than the database"] as const

export const judge = async (observed: Observed, random: Draws): Promise<Verdict> => {
  const { cluster, ledger, period, options } = observed
  const findings = new Findings([...runFindings, ...timeFindings, ...apiFindings])
  const evidence = await gather(cluster.ask)
  checkRuns(evidence, ledger, findings, period.to)
  await checkLeftOver(observed, findings)
  const ticks = checkTicks(evidence, ledger.faults, period, findings)
  const facts = checkWatchers(evidence, observed.watchers, period.to, findings)
  for (const id of observed.streams.missed) findings.add("streams whose watcher was not told of the end", id)
  checkTroubles(ledger, findings)
  for (const surprise of observed.faults.surprises) {
    findings.add("nodes that ended by themselves, or not as they must", surprise)
  }
  const { memory } = observed
  if (memory.mostMiB > options.memoryMiB) {
    findings.add("memory of nodes beyond its bound", `${memory.mostMiB.toFixed(0)} MiB`)
  }
  await checkAnswers(observed, evidence, random, findings)
  await endNodes(observed, findings)
  return {
    settings: {
      minutes: options.minutes,
      nodes: options.nodes,
      seed: options.seed,
      "requests per second": options.rate,
      "lease, ms": options.leaseMs,
      storage: cluster.storage
    },
    figures: figuresOf(observed, evidence, ticks, facts),
    faults: Object.fromEntries(observed.faults.done),
    findings: findings.all,
    violations: findings.total,
    logs: cluster.logs
  }
}

const checkLeftOver = async ({ cluster: { ask }, period }: Observed, findings: Findings): Promise<void> => {
  const until = String(period.to)
  const runs = await ask(`SELECT run_id, var, node_id, start_time FROM runs WHERE ${stillRunning}`, [until])
  for (const run of runs) findings.add("runs that are still running", JSON.stringify(run))
  const left = await ask(
    `SELECT d.delivery_id, d.var, d.due_at, d.group_key, e.event_type FROM deliveries d JOIN events e USING (env_id, event_id)
      WHERE e.created_at <= $1::bigint`,
    [until]
  )
  for (const delivery of left) findings.add("deliveries left in the queue", JSON.stringify(delivery))
  const [counts] = await ask(
    `SELECT (SELECT count(*) FROM events) AS events, (SELECT sum(n) FROM event_counts) AS counted_events,
      (SELECT count(*) FROM runs WHERE status <> 'running') AS runs, (SELECT sum(n) FROM run_counts) AS counted_runs`
  )
  const { events, counted_events, runs: ended, counted_runs } = counts ?? {}
  if (Number(events) !== Number(counted_events)) {
    findings.add("counts that differ from what is counted", `${events} events, ${counted_events} counted`)
  }
  if (Number(ended) !== Number(counted_runs)) {
    findings.add("counts that differ from what is counted", `${ended} ended runs, ${counted_runs} counted`)
  }
}

const askedOfEach = 50

/** What the API of every node says of some of the events, all of which have ended. */
const checkAnswers = async (
  { cluster, ledger }: Observed,
  { runsOfEvent }: Evidence,
  random: Draws,
  findings: Findings
): Promise<void> => {
  const what: (typeof apiFindings)[number] = "answers of nodes other than the database"
  const asked = random.shuffled([...ledger.acknowledged.keys()]).slice(0, askedOfEach)
  for (const { node, name } of cluster.slots) {
    for (const eventId of asked) {
      const response = await fetch(`${node?.url}/v1/events/${eventId}/runs?limit=100`, {
        headers: { authorization: `Bearer ${cluster.key}` }
      }).catch(() => null)
      const body: { readonly data?: ReadonlyArray<{ readonly run_id: string; readonly status: string }> } =
        response === null ? {} : JSON.parse(await response.text())
      const said = (body.data ?? []).map(({ run_id, status }) => `${run_id} ${status}`).sort()
      const stored = (runsOfEvent.get(eventId) ?? []).map(({ run_id, status }) => `${run_id} ${status}`).sort()
      if (said.join() !== stored.join()) {
        findings.add(
          what,
          `${name}, ${eventId}: ${response?.status ?? "no answer"} ${said.join()} for ${stored.join()}`
        )
      }
    }
  }
}

const endNodes = async ({ cluster: { slots } }: Observed, findings: Findings): Promise<void> => {
  await Promise.all(
    slots.map(async ({ node, name }) => {
      const code = node === null ? "nothing, as it was gone" : await node.stop()
      if (code !== 0) {
        findings.add("nodes that ended by themselves, or not as they must", `${name} ended with ${code} at the end`)
      }
    })
  )
}

const figuresOf = (
  { ledger, watchers, streams, faults, memory, settledMs, period }: Observed,
  { events, runs }: Evidence,
  ticks: { readonly fired: number; readonly joined: number },
  facts: number
): Verdict["figures"] => {
  const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0)
  const count = (status: string): number => runs.filter((run) => run.status === status).length
  const lost = runs.filter((run) => run.error?.startsWith("NodeLost") === true).length
  const stays = watchers.flatMap((watcher) => watcher.stays)
  const longest = Math.max(0, ...stays.map(({ from, begun }) => (begun === null ? 0 : begun - from)))
  const wrongMs = ledger.faults.reduce((total, fault) => total + ((fault.to ?? period.to) - fault.from), 0)
  return [
    ["requests sent", sum(ledger.sent.values())],
    ["requests acknowledged", sum(ledger.answered.values())],
    ["requests repeated with their key", ledger.repeated],
    ["requests of unknown outcome", ledger.unknown],
    ["requests not made, as nobody listened", ledger.skipped],
    ["answers that were errors, or none", ledger.troubles.length],
    ["events stored", events.size],
    ["runs stored", runs.length],
    ["runs succeeded", count("succeeded")],
    ["runs failed as they had to", count("failed") - lost],
    ["runs lost with their node, and tried again", lost],
    ["ticks fired", ticks.fired],
    ["ticks joined with a later one during a fault", ticks.joined],
    ["facts that watchers had to be told", facts],
    ["messages to watchers", sum(watchers.map((watcher) => watcher.messages()))],
    ["connections of watchers", stays.length],
    ["connections of watchers that never began", stays.filter(({ begun }) => begun === null).length],
    ["longest wait of a watcher for what it missed, s", longest / 1000],
    ["streams followed to their end", streams.told()],
    ["time during which something was wrong, s", wrongMs / 1000],
    ["longest drain on SIGTERM, s", Math.max(0, ...faults.drains) / 1000],
    ["until all had ended after the last request, s", settledMs / 1000],
    ["memory of a node at most, MiB", memory.mostMiB],
    ["memory of a node early, median, MiB", memory.earlyMiB],
    ["memory of a node late, median, MiB", memory.lateMiB]
  ]
}
