/** A mixed load for a long time, which checks that nothing grows, fails or is lost. */
import { setTimeout as sleep } from "node:timers/promises"
import { upload } from "@weft/bench/instruments"
import { draws } from "@weft/tooling/draws"
import { Findings } from "../nodes/Findings.ts"
import { source } from "../nodes/Guest.ts"
import { Ledger } from "../nodes/Ledger.ts"
import { runFindings } from "../nodes/RunChecks.ts"
import { timeFindings } from "../nodes/TimeChecks.ts"
import { type Api, makeApi, requireText } from "./Api.ts"
import { type BackgroundOps, deployBackgroundCode, startBackgroundOps } from "./BackgroundOps.ts"
import { type Capacity, calibrate, waitUntilIdle } from "./Calibration.ts"
import { Latencies } from "./Latencies.ts"
import { emptyTotals, sendRound, type Totals } from "./Rounds.ts"
import { Series } from "./Series.ts"
import type { SoakTarget, SoakTargetOptions } from "./SoakTarget.ts"
import { watchTarget } from "./Watch.ts"

export interface SoakOptions {
  readonly open: (options: SoakTargetOptions) => Promise<SoakTarget>
  readonly minutes: number
  /** Requests per second, or a share of the calibrated capacity. */
  readonly rate: number | { readonly share: number }
  readonly seed: number
  readonly progress: (text: string) => void
}

export interface SoakResult {
  readonly what: string
  readonly rate: number
  readonly capacity: Capacity | null
  readonly minutes: number
  readonly retentionMs: number
  readonly totals: Totals
  readonly background: BackgroundOps
  readonly latencies: Latencies
  readonly series: Series
  readonly findings: Findings
  readonly logs: string
}

/** A round takes 1/40 of the time, from 6 s to 60 s. Runs are retained for longer than the check of their round. */
const toRoundMs = (minutes: number): number => Math.min(60_000, Math.max(6_000, minutes * 1_500))
const toRetentionMs = (roundMs: number): number => 4 * roundMs + 60_000

/** Returns the pace of background operations, which is higher in short runs. */
const toPace = (minutes: number): number => (minutes < 2 ? 4 : 1)

export const soak = async ({ open, minutes, rate, seed, progress }: SoakOptions): Promise<SoakResult> => {
  const roundMs = toRoundMs(minutes)
  const retentionMs = toRetentionMs(roundMs)
  const target = await open({ variables: { WEFT_LIMIT_RETENTION_MS: String(retentionMs) } })
  try {
    progress(`${target.what}; its output is in ${target.logs}`)
    const random = draws(seed)
    const api = makeApi(target, random)
    const envId = await readEnvId(target)
    await upload(api.url(), target.key, "chaos", source)
    const backgroundApi = makeApi({ slots: target.slots, key: await createBackgroundKey(target) }, random)
    await deployBackgroundCode(backgroundApi)
    // The other nodes receive the message about the deployment.
    await sleep(2_000)
    const first = new Ledger()
    const pace = toPace(minutes)
    const measureCapacity = async (): Promise<Capacity> => {
      // Background operations run during calibration as they do during the soak; their latencies do not count yet.
      const background = startBackgroundOps({
        api: backgroundApi,
        random,
        latencies: new Latencies(),
        pace,
        first: 1_000_000
      })
      const capacity = await calibrate({ target, ledger: first, seed: seed + 7, progress })
      await background.stop()
      return capacity
    }
    const capacity = typeof rate === "number" ? null : await measureCapacity()
    await waitUntilIdle(target)
    const findings = new Findings([...runFindings, ...timeFindings])
    const [latencies, series, totals] = [new Latencies(), new Series(), emptyTotals()]
    const wanted = typeof rate === "number" ? rate : rate.share * (capacity?.perSecond ?? 0)
    const perSecond = Math.max(1, Math.round(wanted))
    progress(`${perSecond} requests/s for ${minutes} minutes`)
    const background = startBackgroundOps({ api: backgroundApi, random, latencies, pace })
    const watching = watchTarget({ target, series, latencies, everyMs: Math.min(5_000, minutes * 10_000) })
    const until = performance.now() + minutes * 60_000
    const checks: Array<Promise<void>> = []
    let last = first.last
    let reported: ReadonlySet<string> = new Set()
    while (performance.now() < until) {
      const options = {
        target,
        envId,
        latencies,
        findings,
        rate: perSecond,
        seed: seed + last,
        stalls: watching.stalls
      }
      const round = await sendRound(options, last, Math.min(roundMs, until - performance.now()), totals)
      last = round.ledger.last
      checks.push(round.check())
      progress(`${last} requests, ${totals.rounds} rounds checked`)
      reported = reportNew(listFailures(background, findings), reported, progress)
    }
    await background.stop()
    await Promise.all(checks)
    await watching.stop()
    await stopNodes(target, findings)
    const { what, logs } = target
    return {
      what,
      rate: perSecond,
      capacity,
      minutes,
      retentionMs,
      totals,
      background,
      latencies,
      series,
      findings,
      logs
    }
  } finally {
    await target.close()
  }
}

/** Lists all failures up to now. */
const listFailures = (background: BackgroundOps, findings: Findings): ReadonlyArray<string> => [
  ...findings.all.flatMap(({ what, samples }) => samples.map((sample) => `${what}: ${sample}`)),
  ...background.failures
]

const reportNew = (
  failures: ReadonlyArray<string>,
  reported: ReadonlySet<string>,
  progress: (text: string) => void
): ReadonlySet<string> => {
  for (const failure of failures) if (!reported.has(failure)) progress(`FAILED: ${failure}`)
  return new Set(failures)
}

const admin = (target: SoakTarget): Api => makeApi({ slots: target.slots, key: target.adminToken }, draws(1))

const readEnvId = async (target: SoakTarget): Promise<string> => {
  const [row] = await target.query("SELECT env_id FROM envs WHERE name = 'production'")
  return String(row?.env_id)
}

/** Creates the environment of background operations, whose events are not checked one by one, and returns its key. */
const createBackgroundKey = async (target: SoakTarget): Promise<string> => {
  const { send } = admin(target)
  const made = await send({ method: "POST", path: "/admin/orgs/default/envs", body: { name: "background" } })
  const path = `/admin/envs/${requireText(made, "env_id")}/api-keys`
  return requireText(await send({ method: "POST", path, body: { name: "background" } }), "token")
}

const stopNodes = async ({ slots }: SoakTarget, findings: Findings): Promise<void> => {
  await Promise.all(
    slots.map(async ({ name, node }) => {
      const code = node === null ? "no code, because it had exited" : await node.stop()
      if (code !== 0) {
        findings.add("unexpected exits of nodes", `${name} exited with ${code} at the end`)
      }
    })
  )
}
