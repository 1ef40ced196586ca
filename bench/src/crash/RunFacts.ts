/** What has to be true of events and runs after a crash. */
import { setTimeout as sleep } from "node:timers/promises"
import { at, listAt, Unanswered, type World } from "./World.ts"

/** Longer than the lease of a node that died. */
const patienceMs = 60_000
const pollMs = 25

/** Asks again and again until `isIt` is so, or time is over: then the last answer. */
export const until = async <A>(
  ask: () => Promise<A>,
  isIt: (answer: A) => boolean,
  waitMs = patienceMs
): Promise<A> => {
  const deadline = performance.now() + waitMs
  for (;;) {
    const answer = await ask()
    if (isIt(answer) || performance.now() > deadline) return answer
    await sleep(pollMs)
  }
}

const runsOf = async (world: World, eventId: string): Promise<ReadonlyArray<unknown>> =>
  listAt((await world.ask("GET", `/v1/events/${eventId}/runs?limit=100`)).body, "data")

const has = (status: string) => (run: unknown) => at(run, "status") === status

/** Their node died: the delivery is tried again. Their runner died: that counts as an attempt. */
const isLost = (run: unknown): boolean => at(run, "result", "error", "name") === "NodeLost"
const isOfRunner = (run: unknown): boolean => ofRunners.has(at(run, "result", "error", "name"))
/** What it asked of its host met a database that was not there: an attempt like others. */
const isOfDatabase = (run: unknown): boolean => at(run, "result", "error", "name") === "StoreUnavailable"
/** The second: one build was at work in several that were ended at once, and is blamed for it. */
const ofRunners: ReadonlySet<unknown> = new Set(["RunnerLost", "Quarantined"])

/** One run of the event succeeded, with this result where one is given; all others were lost, or failed as they had to. */
export const succeedsOnce = (world: World, eventId: string, expected?: unknown) => async (): Promise<string | null> => {
  const runs = await until(
    () => runsOf(world, eventId),
    (found) => found.some(has("succeeded")) && !found.some(has("running")),
    // Most are not tried again after that.
    world.areRunnersEnded ? 2_000 : patienceMs
  )
  const succeeded = runs.filter(has("succeeded"))
  const ended = runs.filter(isOfRunner)
  for (const run of [...runs.filter(isLost), ...ended]) world.lost.add(String(at(run, "run_id")))
  if (world.areRunnersEnded && ended.length > 0 && succeeded.length === 0) return null
  if (succeeded.length !== 1) return `${succeeded.length} runs succeeded: ${JSON.stringify(runs)}`
  const isAllowed = (run: unknown) =>
    (world.areRunnersEnded && isOfRunner(run)) || (world.isDatabaseEnded && isOfDatabase(run))
  const bad = runs.filter((run) => !has("succeeded")(run) && !isLost(run) && !isMeant(run) && !isAllowed(run))
  if (bad.length > 0) return `runs that neither succeeded nor were lost: ${JSON.stringify(bad)}`
  const result = JSON.stringify(at(succeeded[0], "result"))
  return expected === undefined || result === JSON.stringify(expected) ? null : `its result is ${result}`
}

const isMeant = (run: unknown): boolean => at(run, "result", "error", "message") === "not yet"

export const hasStatus =
  (world: World, runId: string, status: string, expected?: unknown) => async (): Promise<string | null> => {
    const { status: code, body } = await world.ask("GET", `/v1/runs/${runId}`, { expected: [404] })
    if (code === 404) return "there is no such run"
    const found = at(body, "data", "status")
    if (found !== status) return `it is ${found}`
    const result = JSON.stringify(at(body, "data", "result"))
    return expected === undefined || result === JSON.stringify(expected) ? null : `its result is ${result}`
  }

/** Ends in a state that a run which ended has; never runs for ever. */
export const endsSomehow = (world: World, eventId: string) => async (): Promise<string | null> => {
  const runs = await until(
    () => runsOf(world, eventId),
    (found) => found.length > 0 && !found.some(has("running"))
  )
  return runs.some(has("running")) ? `still running: ${JSON.stringify(runs)}` : null
}

/** The answer, or null where it is unknown what became of the request. */
export const known = async <A>(request: Promise<A>): Promise<A | null> => {
  try {
    return await request
  } catch (error) {
    if (error instanceof Unanswered) return null
    throw error
  }
}
