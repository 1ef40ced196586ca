/** Compares the observations with the guarantees. */
import type { Draws } from "@weft/tooling/draws"
import type { Observed } from "./Chaos.ts"
import { type Evidence, gather, stillRunning } from "./Evidence.ts"
import { type Finding, Findings } from "./Findings.ts"
import { checkFlows } from "./FlowChecks.ts"
import { gatherFlows } from "./FlowEvidence.ts"
import { type FlowFigures, flowFindings } from "./FlowFindings.ts"
import { checkRuns, runFindings } from "./RunChecks.ts"
import { checkFailures, checkTicks, checkWatchers, timeFindings } from "./TimeChecks.ts"

export interface Verdict {
  readonly settings: Readonly<Record<string, string | number>>
  readonly figures: ReadonlyArray<readonly [string, number]>
  readonly faults: Readonly<Record<string, number>>
  readonly findings: ReadonlyArray<Finding>
  /** Total count of all findings. */
  readonly violations: number
  /** Folder of the nodes' output. */
  readonly logs: string
}

const apiFindings = [
  "counters that differ from the counted rows",
  "API responses that differ from the database"
] as const

export const evaluate = async (observed: Observed, random: Draws): Promise<Verdict> => {
  const { cluster, ledger, period, options } = observed
  const findings = new Findings([...runFindings, ...flowFindings, ...timeFindings, ...apiFindings])
  const evidence = await gather(cluster.query)
  checkRuns(evidence, ledger, findings, period.to)
  const flows = checkFlows(await gatherFlows(cluster.query, evidence), ledger, options, findings)
  await checkUnfinished(observed, findings)
  const ticks = checkTicks(evidence, ledger.faults, period, findings)
  const expected = checkWatchers(evidence, observed.watchers, period.to, findings)
  for (const id of observed.streams.missed) findings.add("streams whose subscriber did not receive the end", id)
  checkFailures(ledger, findings)
  for (const exit of observed.faults.unexpectedExits) {
    findings.add("unexpected exits of nodes", exit)
  }
  const { memory } = observed
  if (memory.maxMiB > options.memoryMiB) {
    findings.add("node memory above its limit", `${memory.maxMiB.toFixed(0)} MiB`)
  }
  await checkResponses(observed, evidence, random, findings)
  await stopNodes(observed, findings)
  return {
    settings: {
      minutes: options.minutes,
      nodes: options.nodes,
      seed: options.seed,
      "requests per second": options.rate,
      "lease, ms": options.leaseMs,
      storage: cluster.storage
    },
    figures: [...toFigures(observed, evidence, ticks, expected), ...toFlowFigures(flows)],
    faults: Object.fromEntries(observed.faults.done),
    findings: findings.all,
    violations: findings.total,
    logs: cluster.logs
  }
}

const checkUnfinished = async ({ cluster: { query }, period }: Observed, findings: Findings): Promise<void> => {
  const until = String(period.to)
  const runs = await query(`SELECT run_id, var, node_id, start_time FROM runs WHERE ${stillRunning}`, [until])
  for (const run of runs) findings.add("runs that are still running", JSON.stringify(run))
  const left = await query(
    `SELECT d.delivery_id, d.var, d.due_at, d.group_key, e.event_type FROM deliveries d JOIN events e USING (env_id, event_id)
      WHERE e.created_at <= $1::bigint`,
    [until]
  )
  for (const delivery of left) findings.add("deliveries still queued", JSON.stringify(delivery))
  const [counts] = await query(
    `SELECT (SELECT count(*) FROM events) AS events, (SELECT sum(n) FROM event_counts) AS counted_events,
      (SELECT count(*) FROM runs WHERE status <> 'running') AS runs, (SELECT sum(n) FROM run_counts) AS counted_runs`
  )
  const { events, counted_events, runs: ended, counted_runs } = counts ?? {}
  if (Number(events) !== Number(counted_events)) {
    findings.add("counters that differ from the counted rows", `${events} events, ${counted_events} counted`)
  }
  if (Number(ended) !== Number(counted_runs)) {
    findings.add("counters that differ from the counted rows", `${ended} ended runs, ${counted_runs} counted`)
  }
}

const eventsPerNode = 50

/** Compares the API of every node with the database, for a sample of ended events. */
const checkResponses = async (
  { cluster, ledger }: Observed,
  { runsOfEvent }: Evidence,
  random: Draws,
  findings: Findings
): Promise<void> => {
  const what: (typeof apiFindings)[number] = "API responses that differ from the database"
  const sample = random.shuffled([...ledger.acknowledged.keys()]).slice(0, eventsPerNode)
  for (const { node, name } of cluster.slots) {
    for (const eventId of sample) {
      const response = await fetch(`${node?.url}/v1/events/${eventId}/runs?limit=100`, {
        headers: { authorization: `Bearer ${cluster.key}` }
      }).catch(() => null)
      const body: { readonly data?: ReadonlyArray<{ readonly run_id: string; readonly status: string }> } =
        response === null ? {} : JSON.parse(await response.text())
      const received = (body.data ?? []).map(({ run_id, status }) => `${run_id} ${status}`).sort()
      const stored = (runsOfEvent.get(eventId) ?? []).map(({ run_id, status }) => `${run_id} ${status}`).sort()
      if (received.join() !== stored.join()) {
        findings.add(
          what,
          `${name}, ${eventId}: ${response?.status ?? "no response"} ${received.join()} for ${stored.join()}`
        )
      }
    }
  }
}

const stopNodes = async ({ cluster: { slots } }: Observed, findings: Findings): Promise<void> => {
  await Promise.all(
    slots.map(async ({ node, name }) => {
      const code = node === null ? "no code, because it had exited" : await node.stop()
      if (code !== 0) {
        findings.add("unexpected exits of nodes", `${name} exited with ${code} at the end`)
      }
    })
  )
}

const toFigures = (
  { ledger, watchers, streams, faults, memory, settledMs, period }: Observed,
  { events, runs }: Evidence,
  ticks: { readonly fired: number; readonly merged: number },
  expected: number
): Verdict["figures"] => {
  const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0)
  const count = (status: string): number => runs.filter((run) => run.status === status).length
  const lost = runs.filter((run) => run.error?.startsWith("NodeLost") === true).length
  const connections = watchers.flatMap((watcher) => watcher.connections)
  const longest = Math.max(0, ...connections.map(({ from, begun }) => (begun === null ? 0 : begun - from)))
  const faultMs = ledger.faults.reduce((total, fault) => total + ((fault.to ?? period.to) - fault.from), 0)
  return [
    ["requests sent", sum(ledger.sent.values())],
    ["requests acknowledged", sum(ledger.answered.values())],
    ["requests repeated with their key", ledger.repeated],
    ["requests of unknown outcome", ledger.unknown],
    ["requests skipped without an available node", ledger.skipped],
    ["failed requests and timeouts", ledger.failures.length],
    ["events stored", events.size],
    ["runs stored", runs.length],
    ["runs succeeded", count("succeeded")],
    ["runs failed as planned", count("failed") - lost],
    ["runs lost with their node and retried", lost],
    ["ticks fired", ticks.fired],
    ["ticks merged with a later one during a fault", ticks.merged],
    ["messages that watchers had to receive", expected],
    ["messages that watchers received", sum(watchers.map((watcher) => watcher.messages()))],
    ["connections of watchers", connections.length],
    ["connections of watchers that never opened", connections.filter(({ begun }) => begun === null).length],
    ["longest catch-up of a watcher, s", longest / 1000],
    ["streams followed to their end", streams.ended()],
    ["total duration of faults, s", faultMs / 1000],
    ["longest drain on SIGTERM, s", Math.max(0, ...faults.drains) / 1000],
    ["time from the last request until all work had ended, s", settledMs / 1000],
    ["node memory, maximum, MiB", memory.maxMiB],
    ["node memory in the first quarter, median, MiB", memory.earlyMiB],
    ["node memory in the last quarter, median, MiB", memory.lateMiB]
  ]
}

const toFlowFigures = (flows: FlowFigures): Verdict["figures"] => [
  ["durable functions that ended", flows.flows],
  ["durable functions that failed as planned and were undone", flows.undone],
  ["results of durable functions, recorded and checked", flows.results],
  ["stays of durable functions in an isolate", flows.activations],
  ["executions of bodies", flows.executions],
  ["executions of bodies without a recorded result", flows.unrecorded],
  ["executions of recorded bodies by nodes without a lease", flows.stale],
  ["sleeps checked", flows.sleeps],
  ["delay after a sleep, 99th percentile, s", flows.lateMsP99 / 1000],
  ["delay after a sleep, maximum, s", flows.lateMsMax / 1000],
  ["sleeps without a fault", flows.undisturbed],
  ["delay after a sleep without a fault, maximum, s", flows.undisturbedLateMsMax / 1000],
  ["waits that received an event", flows.events],
  ["waits that timed out", flows.timeouts],
  ["tokens completed", flows.tokens],
  ["further completions of tokens, refused", flows.refused]
]
