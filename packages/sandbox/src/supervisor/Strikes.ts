/**
 * Attributes deaths of runners to builds, and decides where each build runs.
 *
 * - Strike: this build was computing or growing when its runner died. After one strike the build has a runner of its
 *   own. After two it is under quarantine: it does not run until a strike expires, or until `clear`.
 * - Suspicion: the runner died, and one of several builds was the cause. Suspects share the runner of the suspect pool.
 *   If that runner also dies, each suspect gets a runner of its own, where the next death is a strike. A completed run
 *   ends the suspicion.
 * - Heavy: the build repeatedly exceeds its CPU slice. For a minute it runs in the suspect pool, away from other builds.
 *
 * All times are on a monotonic clock, in milliseconds.
 */
export type Placement = "shared" | "suspectPool" | "solo" | "quarantined"

const heavyMs = 60_000
const heavyOverruns = 2

export interface StrikesOptions {
  /** Number of strikes that put a build under quarantine, at least 1. */
  readonly strikes: number
  /** Time after which a strike or a suspicion expires, in milliseconds. */
  readonly strikeMs: number
}

interface BuildRecord {
  /** Times at which the strikes expire, oldest first. */
  strikes: ReadonlyArray<number>
  suspicion: number
  suspectedUntil: number
  overruns: number
  /** Time at which the overruns expire. */
  countedUntil: number
}

const isHeavy = (record: BuildRecord, now: number): boolean =>
  record.overruns >= heavyOverruns && now < record.countedUntil

export class Strikes {
  readonly #options: StrikesOptions
  readonly #records = new Map<string, BuildRecord>()

  constructor(options: StrikesOptions) {
    this.#options = options
  }

  /** Returns the placement of the build's runs. */
  placement(build: string, now: number): Placement {
    const record = this.#records.get(build)
    if (record === undefined) return "shared"
    const strikes = countStrikes(record, now)
    if (strikes >= this.#options.strikes) return "quarantined"
    const suspicion = now < record.suspectedUntil ? record.suspicion : 0
    if (strikes > 0 || suspicion > 1) return "solo"
    return suspicion > 0 || isHeavy(record, now) ? "suspectPool" : "shared"
  }

  /** Adds a strike. True if it puts the build under quarantine. */
  strike(build: string, now: number): boolean {
    const record = this.#record(build, now)
    const before = countStrikes(record, now)
    record.strikes = [...record.strikes.slice(-this.#options.strikes), now + this.#options.strikeMs]
    return before < this.#options.strikes && before + 1 >= this.#options.strikes
  }

  /** Records that one of these builds may have caused the death of a runner. */
  suspect(builds: Iterable<string>, now: number): void {
    for (const build of builds) {
      const record = this.#record(build, now)
      record.suspicion = now < record.suspectedUntil ? record.suspicion + 1 : 1
      record.suspectedUntil = now + this.#options.strikeMs
    }
  }

  /** Records that the build exceeded its CPU slice. */
  overrun(build: string, now: number): void {
    const record = this.#record(build, now)
    record.overruns = now < record.countedUntil ? record.overruns + 1 : 1
    record.countedUntil = now + heavyMs
  }

  /** Ends the suspicion: a run of the build completed. */
  clearSuspicion(build: string): void {
    const record = this.#records.get(build)
    if (record === undefined || record.suspicion === 0) return
    record.suspicion = 0
    if (record.strikes.length === 0 && record.overruns === 0) this.#records.delete(build)
  }

  /** Removes all strikes and suspicion of a build, so that it runs again. */
  clear(build: string): void {
    this.#records.delete(build)
  }

  /** Returns the number of builds under quarantine. */
  countQuarantined(now: number): number {
    let count = 0
    for (const build of this.#records.keys()) if (this.placement(build, now) === "quarantined") count++
    return count
  }

  /** Returns the record of a build. A new one replaces those in which nothing counts any more. */
  #record(build: string, now: number): BuildRecord {
    const known = this.#records.get(build)
    if (known !== undefined) return known
    for (const [other, record] of this.#records) if (isExpired(record, now)) this.#records.delete(other)
    const record = { strikes: [], suspicion: 0, suspectedUntil: 0, overruns: 0, countedUntil: 0 }
    this.#records.set(build, record)
    return record
  }
}

const countStrikes = ({ strikes }: BuildRecord, now: number): number => strikes.filter((until) => now < until).length

const isExpired = (record: BuildRecord, now: number): boolean =>
  countStrikes(record, now) === 0 &&
  (record.suspicion === 0 || record.suspectedUntil <= now) &&
  record.countedUntil <= now
