/**
 * Who is to blame for runners that died, and what follows from it.
 *
 * - A strike: this build, and no other, was computing when its runner had to be killed. One strike gives the build a
 *   runner of its own, two put it under quarantine: it is not run until pardoned.
 * - Suspicion: the runner died and any of several builds may have done it. Suspects share the penal runner; if that
 *   dies too, each gets a runner of its own, where the next death is proof. Finishing a run ends the suspicion.
 * - Heavy: the build keeps computing beyond its slice. For a while it runs in the penal runner, out of others' way.
 */
export type Custody = "shared" | "penal" | "solo" | "quarantined"

const heavyMs = 60_000
const heavyAt = 2

interface Account {
  strikes: number
  suspicion: number
  overruns: number
  /** Until when the overruns count, on the monotonic clock. */
  countedUntil: number
}

const isHeavy = (account: Account, now: number): boolean => account.overruns >= heavyAt && now < account.countedUntil

export class Strikes {
  readonly #quarantineAt: number
  readonly #accounts = new Map<string, Account>()

  /** `quarantineAt`: how many strikes put a build under quarantine, at least 1. */
  constructor(quarantineAt: number) {
    this.#quarantineAt = quarantineAt
  }

  /** Where runs of the build belong. `now` is on a monotonic clock, in milliseconds. */
  custody(build: string, now: number): Custody {
    const account = this.#accounts.get(build)
    if (account === undefined) return "shared"
    if (account.strikes >= this.#quarantineAt) return "quarantined"
    if (account.strikes > 0 || account.suspicion > 1) return "solo"
    return account.suspicion > 0 || isHeavy(account, now) ? "penal" : "shared"
  }

  strike(build: string): void {
    this.#account(build).strikes++
  }

  /** A runner died in which these builds had runs, and no one else. */
  suspect(builds: ReadonlySet<string>): void {
    const [only] = builds
    if (builds.size === 1 && only !== undefined) {
      this.strike(only)
      return
    }
    for (const build of builds) this.#account(build).suspicion++
  }

  /** The build computed beyond its slice. */
  overrun(build: string, now: number): void {
    this.#forget(now)
    const account = this.#account(build)
    account.overruns = now < account.countedUntil ? account.overruns + 1 : 1
    account.countedUntil = now + heavyMs
  }

  /** A run of the build ended well. */
  acquit(build: string): void {
    const account = this.#accounts.get(build)
    if (account === undefined || account.suspicion === 0) return
    account.suspicion = 0
    if (account.strikes === 0 && account.overruns === 0) this.#accounts.delete(build)
  }

  /** Builds of which nothing counts any more. */
  #forget(now: number): void {
    for (const [build, { strikes, suspicion, countedUntil }] of this.#accounts) {
      if (strikes === 0 && suspicion === 0 && countedUntil <= now) this.#accounts.delete(build)
    }
  }

  pardon(build: string): void {
    this.#accounts.delete(build)
  }

  #account(build: string): Account {
    const known = this.#accounts.get(build)
    if (known !== undefined) return known
    const account = { strikes: 0, suspicion: 0, overruns: 0, countedUntil: 0 }
    this.#accounts.set(build, account)
    return account
  }
}
