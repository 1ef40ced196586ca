/** Attribution of deaths of runners to builds: counts, log lines, strikes and quarantines. */
import type { Build } from "./Build.ts"
import type { PoolOptions } from "./PoolOptions.ts"
import { type DeathCause, deathCauses, type RunnerDeath } from "./RunnerDeath.ts"
import type { RunnerView } from "./RunnerView.ts"
import type { Strikes } from "./Strikes.ts"

export class Attribution {
  /** Number of deaths of runners by cause, without those that were no longer needed. */
  readonly deaths = new Map<DeathCause, number>(deathCauses.map((cause) => [cause, 0]))
  readonly #strikes: Strikes
  readonly #options: PoolOptions

  constructor(strikes: Strikes, options: PoolOptions) {
    this.#strikes = strikes
    this.#options = options
  }

  /** Counts and logs the death of a runner, unless the pool no longer needed it. */
  recordDeath(view: RunnerView, { cause, why }: RunnerDeath): void {
    if (cause === "retired") return
    this.deaths.set(cause, (this.deaths.get(cause) ?? 0) + 1)
    this.#options.report(`a runner process died (${cause}): ${why}. ${describeBuilds(view)}${view.runner.diagnosis}`)
  }

  /**
   * Records which builds may have caused the death of the runner. Without evidence against a build, its runs are in the
   * runner by chance: the system kills runners when other processes take the memory.
   */
  attribute(view: RunnerView, { cause, why }: RunnerDeath, wasIdle: boolean): void {
    const computing = view.computingBuilds()
    const isInnocent = cause === "killed" && !view.memoryTrend.isGrowing
    const suspects = computing.size > 0 ? computing : isInnocent ? [] : view.activeBuilds()
    const [only, ...others] = suspects
    if (only === undefined) return
    if (others.length === 0 && (computing.size > 0 || !wasIdle)) {
      this.strike(only, why)
      return
    }
    this.#strikes.suspect(
      [only, ...others].map(({ strikeId }) => strikeId),
      performance.now()
    )
  }

  /** Gives the build a strike, and quarantines it after the last one. */
  strike({ envId, strikeId: buildId }: Build, why: string): void {
    const name = `build ${buildId} of environment ${envId}`
    this.#options.report(`${name} gets a strike, because it was active in a runner process that ended: ${why}`)
    if (!this.#strikes.strike(buildId, performance.now())) return
    this.#options.report(this.describeQuarantine(name))
    this.#options.onQuarantine({ env_id: envId, build_id: buildId, reason: why, strikes: this.#options.strikes })
  }

  /** Returns the message of a quarantine, for logs and for runs of the build. */
  describeQuarantine(name: string): string {
    const { strikes, strikeMs } = this.#options
    return `${name} is under quarantine for up to ${formatMinutes(strikeMs)}: it ended its runner process ${strikes} times. Release it or deploy it again to run it now`
  }
}

const formatMinutes = (ms: number): string => `${Math.ceil(ms / 60_000)} minutes`

/** Maximum builds in a log message. */
const namedBuildsMax = 5

/** Returns a sentence with the builds that had runs in the runner. */
const describeBuilds = (view: RunnerView): string => {
  const builds = [...new Set([...view.computingBuilds(), ...view.activeBuilds()])]
  if (builds.length === 0) return ""
  const names = builds.slice(0, namedBuildsMax).map(({ envId, buildId }) => `${buildId} (environment ${envId})`)
  const more = builds.length - names.length
  return `It had runs of ${names.join(", ")}${more > 0 ? ` and ${more} more builds` : ""}. `
}
