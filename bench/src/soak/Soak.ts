/** A mixed load for a long time, and whether anything grows, fails or goes missing. */
import { setTimeout as sleep } from "node:timers/promises"
import { draws } from "@weft/tooling/draws"
import { Findings } from "../nodes/Findings.ts"
import { source } from "../nodes/Guest.ts"
import { Ledger } from "../nodes/Ledger.ts"
import { runFindings } from "../nodes/RunChecks.ts"
import { timeFindings } from "../nodes/TimeChecks.ts"
import { upload } from "../targets/upload.ts"
import { type Api, apiOf, textOf } from "./Api.ts"
import { type Capacity, calibrate, calm } from "./Calibration.ts"
import { beginChores, type Chores, uploadForChores } from "./Chores.ts"
import { Latencies } from "./Latencies.ts"
import type { Place, PlaceOptions } from "./Place.ts"
import { emptyTally, sendRound, type Tally } from "./Rounds.ts"
import { Series } from "./Series.ts"
import { watchPlace } from "./Watch.ts"

export interface SoakOptions {
  readonly open: (options: PlaceOptions) => Promise<Place>
  readonly minutes: number
  /** Requests in a second, or this share of what a calibration finds. */
  readonly rate: number | { readonly share: number }
  readonly seed: number
  readonly progress: (text: string) => void
}

export interface Soaked {
  readonly what: string
  readonly rate: number
  readonly capacity: Capacity | null
  readonly minutes: number
  readonly retentionMs: number
  readonly tally: Tally
  readonly chores: Chores
  readonly latencies: Latencies
  readonly series: Series
  readonly findings: Findings
  readonly logs: string
}

/** A fortieth of the time is a round; runs are kept for a twelfth, and judged long before. */
const roundMsOf = (minutes: number): number => Math.min(60_000, Math.max(6_000, minutes * 1_500))
const retentionMsOf = (roundMs: number): number => 4 * roundMs + 60_000

/** Chores come more often where there is little time for them. */
const paceOf = (minutes: number): number => (minutes < 2 ? 4 : 1)

export const soak = async ({ open, minutes, rate, seed, progress }: SoakOptions): Promise<Soaked> => {
  const roundMs = roundMsOf(minutes)
  const retentionMs = retentionMsOf(roundMs)
  const place = await open({ variables: { WEFT_LIMIT_RETENTION_MS: String(retentionMs) } })
  try {
    progress(`${place.what}; what it says is in ${place.logs}`)
    const random = draws(seed)
    const api = apiOf(place, random)
    const envId = await envOf(place)
    await upload(api.url(), place.key, "chaos", source)
    const chored = apiOf({ slots: place.slots, key: await keyOfChores(place) }, random)
    await uploadForChores(chored)
    // Nodes hear of what was deployed on another.
    await sleep(2_000)
    const first = new Ledger()
    const pace = paceOf(minutes)
    const found = async (): Promise<Capacity> => {
      // They take their share while the load goes on, and so they do now; how they fare does not count yet.
      const beside = beginChores({ api: chored, random, latencies: new Latencies(), pace, first: 1_000_000 })
      const capacity = await calibrate({ place, ledger: first, seed: seed + 7, progress })
      await beside.stop()
      return capacity
    }
    const capacity = typeof rate === "number" ? null : await found()
    await calm(place)
    const findings = new Findings([...runFindings, ...timeFindings])
    const [latencies, series, tally] = [new Latencies(), new Series(), emptyTally()]
    const wanted = typeof rate === "number" ? rate : rate.share * (capacity?.perSecond ?? 0)
    const perSecond = Math.max(1, Math.round(wanted))
    progress(`${perSecond} requests/s for ${minutes} minutes`)
    const chores = beginChores({ api: chored, random, latencies, pace })
    const watching = watchPlace({ place, series, latencies, everyMs: Math.min(5_000, minutes * 10_000) })
    const until = performance.now() + minutes * 60_000
    const judgements: Array<Promise<void>> = []
    let last = first.last
    let told: ReadonlySet<string> = new Set()
    while (performance.now() < until) {
      const options = { place, envId, latencies, findings, rate: perSecond, seed: seed + last, stalls: watching.stalls }
      const round = await sendRound(options, last, Math.min(roundMs, until - performance.now()), tally)
      last = round.ledger.last
      judgements.push(round.judge())
      progress(`${last} requests, ${tally.rounds} rounds judged`)
      told = tellNew(failuresOf(chores, findings), told, progress)
    }
    await chores.stop()
    await Promise.all(judgements)
    await watching.stop()
    await end(place, findings)
    const { what, logs } = place
    return { what, rate: perSecond, capacity, minutes, retentionMs, tally, chores, latencies, series, findings, logs }
  } finally {
    await place.close()
  }
}

/** What was not as it must up to now. */
const failuresOf = (chores: Chores, findings: Findings): ReadonlyArray<string> => [
  ...findings.all.flatMap(({ what, samples }) => samples.map((sample) => `${what}: ${sample}`)),
  ...chores.failures
]

const tellNew = (
  failures: ReadonlyArray<string>,
  told: ReadonlySet<string>,
  progress: (text: string) => void
): ReadonlySet<string> => {
  for (const failure of failures) if (!told.has(failure)) progress(`FAILED: ${failure}`)
  return new Set(failures)
}

const admin = (place: Place): Api => apiOf({ slots: place.slots, key: place.adminToken }, draws(1))

const envOf = async (place: Place): Promise<string> => {
  const [row] = await place.ask("SELECT env_id FROM envs WHERE name = 'production'")
  return String(row?.env_id)
}

/** What is not counted event by event happens in an environment of its own. */
const keyOfChores = async (place: Place): Promise<string> => {
  const { ask } = admin(place)
  const made = await ask({ method: "POST", path: "/admin/orgs/default/envs", body: { name: "chores" } })
  const path = `/admin/envs/${textOf(made, "env_id")}/api-keys`
  return textOf(await ask({ method: "POST", path, body: { name: "chores" } }), "token")
}

const end = async ({ slots }: Place, findings: Findings): Promise<void> => {
  await Promise.all(
    slots.map(async ({ name, node }) => {
      const code = node === null ? "nothing, as it was gone" : await node.stop()
      if (code !== 0) {
        findings.add("nodes that ended by themselves, or not as they must", `${name} ended with ${code} at the end`)
      }
    })
  )
}
