/** The proof of clusters in virtual time, one per seed. `--seed S --seeds 1` prints one history, line by line. */

import type { Proof, ProofOptions, ProofResult } from "../Proof.ts"
import {
  type Counts,
  drawBatchScenario,
  drawFlowControlScenario,
  drawScenario,
  drawWorkflowScenario,
  runScenario,
  type Scenario,
  type SimulationResult,
  shorten
} from "./index.ts"

const seedsDefault = 2_000

/** Maximum failing seeds whose scenarios are shortened, because that takes time. */
const shortenedMax = 5

const sums: ReadonlyArray<readonly [label: string, count: keyof Counts]> = [
  ["requests of clients", "requests"],
  ["acknowledged requests", "acknowledged"],
  ["events", "events"],
  ["runs", "runs"],
  ["durable runs", "workflows"],
  ["activations of durable runs", "activations"],
  ["recorded results", "results"],
  ["bodies of steps", "bodies"],
  ["statements sent to the store", "statements"],
  ["faults injected", "faults"]
]

const simulate = async ({ seeds, seed, progress }: ProofOptions): Promise<ProofResult> => {
  const first = seed ?? 1
  const count = seeds ?? seedsDefault
  const all: Array<Counts> = []
  const failures: Array<string> = []
  const began = process.cpuUsage()
  for (let next = first; next < first + count; next++) {
    for (const draw of [drawScenario, drawWorkflowScenario, drawFlowControlScenario, drawBatchScenario]) {
      const scenario = draw(next)
      const result = await runScenario(scenario, { recordsTrace: count === 1 })
      all.push(result.counts)
      for (const line of result.trace) console.log(line)
      if (result.violations.length > 0) failures.push(await describe(scenario, result, failures.length < shortenedMax))
    }
    if ((next - first + 1) % 250 === 0) progress(`${next - first + 1} seeds, ${failures.length} failed`)
  }
  const { user, system } = process.cpuUsage(began)
  const sum = (of: keyof Counts) => all.reduce((total, counts) => total + counts[of], 0)
  return {
    figures: [
      ["seeds", count],
      ...sums.map(([label, of]): readonly [string, number] => [label, sum(of)]),
      ["hours of virtual time", sum("elapsed") / 3_600_000],
      ["turns of fibers and timers", sum("turns")],
      ["CPU milliseconds per seed", (user + system) / 1000 / count],
      ["scenarios that broke a rule", failures.length]
    ],
    failures,
    notes: [`The first seed was ${first}. A seed always gives the same history, step for step.`]
  }
}

/** Describes a failing seed, with the steps and faults that it needs. */
const describe = async (
  scenario: Scenario,
  { violations }: SimulationResult,
  isShortened: boolean
): Promise<string> => {
  const isControlled = scenario.rules.some(({ control }) => control !== null)
  const hasBatches = scenario.rules.some(({ control }) => control?.batch !== undefined)
  const kind =
    scenario.flows.length > 0
      ? " with durable functions"
      : hasBatches
        ? " with batches"
        : isControlled
          ? " with flow control"
          : ""
  const rule = `seed ${scenario.seed}${kind}: ${violations[0]}`
  if (!isShortened) return rule
  const fails = async (shorter: Scenario) => (await runScenario(shorter)).violations.length > 0
  const { steps, faults } = await shorten(scenario, fails)
  return `${rule}; it needs ${JSON.stringify({ steps, faults })}`
}

export const simulationProof: Proof = {
  title: "Clusters in virtual time",
  does: `Up to three complete nodes run in one process, on one in-memory store and one cluster bus. A seed determines
clocks, random numbers and the order of all fibers. Clients publish, call, cancel and watch. Statements are refused,
delayed, or lose their response. Nodes are partitioned, crash before or after a statement, and are restarted. Messages
of the bus are lost, delayed or refused. Clocks step, and sandboxes fail.`,
  shows: `acknowledged requests are stored. Each delivery gets the attempts that its rules allow, and is settled. Ended runs
never change. No two nodes hold the same delivery. Results of durable functions are recorded once, their
bodies do not run again after that, and their waits neither end early nor lose an event. Groups, rates, throttles and
singletons keep their limits, and a debounce handles the last event. Ticks and requests with an idempotency key
count once. Counters match the stored rows. Watchers receive every message, every wait ends, and a stopped node leaves
nothing behind. A test also plants faults in the stores, and the simulation finds them.`,
  doesNotShow: `faults of a real database, operating system or sandbox, because the simulation replaces them with models. It also
misses faults that no seed has reached yet.`,
  run: simulate
}
