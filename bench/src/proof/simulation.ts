/** Clusters in virtual time, a seed each, as a proof; `--seed S --seeds 1` tells one history, line by line. */
import { type Counts, type Played, play, type Scenario, scenarioOf, shorten } from "@weft/contract/simulation"
import type { Found, Given, Proof } from "./Proof.ts"

const seedsDefault = 2_000

/** Histories that went wrong, of which so many are made shorter: each takes a while. */
const shortenedMax = 5

const sums: ReadonlyArray<readonly [label: string, count: keyof Counts]> = [
  ["requests of clients", "requests"],
  ["requests that were acknowledged", "acknowledged"],
  ["events", "events"],
  ["runs", "runs"],
  ["statements to the store", "statements"],
  ["faults injected", "faults"]
]

const simulate = async ({ seeds, seed, progress }: Given): Promise<Found> => {
  const first = seed ?? 1
  const count = seeds ?? seedsDefault
  const all: Array<Counts> = []
  const failures: Array<string> = []
  const began = process.cpuUsage()
  for (let next = first; next < first + count; next++) {
    const played = await play(scenarioOf(next), { keepsTrace: count === 1 })
    all.push(played.counts)
    for (const line of played.trace) console.log(line)
    if (played.violations.length > 0) failures.push(await told(next, played, failures.length < shortenedMax))
    if (all.length % 250 === 0) progress(`${all.length} seeds, ${failures.length} of them went wrong`)
  }
  const { user, system } = process.cpuUsage(began)
  const sum = (of: keyof Counts) => all.reduce((total, counts) => total + counts[of], 0)
  return {
    figures: [
      ["seeds", count],
      ...sums.map(([label, of]): readonly [string, number] => [label, sum(of)]),
      ["hours of virtual time", sum("elapsed") / 3_600_000],
      ["turns of fibers and timers", sum("turns")],
      ["milliseconds of processor for a seed", (user + system) / 1000 / count],
      ["seeds that broke a rule", failures.length]
    ],
    failures,
    notes: [`the first seed was ${first}; the same seed gives the same history, step for step`]
  }
}

/** What went wrong, and the least that it takes. */
const told = async (seed: number, { violations }: Played, isShortened: boolean): Promise<string> => {
  const rule = `seed ${seed}: ${violations[0]}`
  if (!isShortened) return rule
  const goesWrong = async (shorter: Scenario) => (await play(shorter)).violations.length > 0
  const { steps, faults } = await shorten(scenarioOf(seed), goesWrong)
  return `${rule}; it takes ${JSON.stringify({ steps, faults })}`
}

export const simulationProof: Proof = {
  title: "Clusters in virtual time",
  does: `Up to three whole nodes in one process, on one store in memory and one feed, with clocks, random numbers and the
order of all fibers drawn from a seed. Clients publish, call, cancel and watch; statements are refused, come late, or
lose their answers; nodes are cut off, die before or after a statement, and are stopped and started; news is lost, late
or refused; clocks step; sandboxes fail.`,
  shows: `that what was acknowledged is stored, that each delivery has the attempts of its rules and comes to an end, that
what has ended stays so, that no two nodes hold the same delivery, that groups keep their limits, that ticks and named
requests count once, that counters say what is stored, that who watches is told, that every wait ends, and that a node
that is stopped leaves nothing behind. Faults that are planted in stores are found: that is tested, too.`,
  doesNotShow: `faults of a database, an operating system or a sandbox, which are played here by what they are said to do; and
what only a history tells that no seed has drawn yet.`,
  run: simulate
}
