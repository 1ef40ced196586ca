/**
 * Places for runners, and which build belongs to which place.
 *
 * A place outlives its runners: when one dies the next takes over, from the warm spare where there is one, so that
 * builds keep their place by rendezvous hashing. Beside the shared places there is the penal one, for suspects and
 * for builds that compute too long, and solo ones, each for one build.
 */

import type { RunnerProcess } from "./RunnerProcess.ts"
import type { Custody } from "./Strikes.ts"

export interface Runners {
  /** Starts a process; the lane is told of its death by `Lanes.replace`. */
  readonly start: () => RunnerProcess
  /** Whether nothing runs in it. */
  readonly isIdle: (runner: RunnerProcess) => boolean
  /** Nobody needs the idle runner any more. */
  readonly release: (runner: RunnerProcess) => void
}

interface Wish {
  readonly use: (runner: RunnerProcess) => void
  readonly refuse: (reason: string) => void
}

/** Builds that may have a runner of their own at once; more wait, and take turns of at least so long. */
const soloMax = 4
const soloTurnMs = 2000
const soloWaitingMax = 10_000
const backoffBaseMs = 100
const backoffMaxMs = 10_000
/** After the first work came the other runners are started: not at once, which it would have to wait for. */
const othersMs = 250
/** So many failed starts in a row, and nobody waits for the next one. */
const failuresMax = 4

export class Lane {
  runner: RunnerProcess | undefined
  /** Work that came while there was no runner. */
  readonly queue: Array<Wish> = []
  readonly since = performance.now()
  usedAt = 0
  restart: NodeJS.Timeout | undefined
}

export class Lanes {
  readonly #runners: Runners
  readonly #shared: ReadonlyArray<Lane>
  readonly #solo = new Map<string, Lane>()
  /** For a runner of its own, by build, in the order in which they came. */
  readonly #soloWaiting: Array<Wish & { readonly build: string }> = []
  #penal: Lane | undefined
  /** Until the first work, one runner is enough. */
  #others: "not yet" | NodeJS.Timeout | "started" = "not yet"
  #spare: RunnerProcess | undefined
  #failures = 0
  #closed = false

  constructor(count: number, runners: Runners) {
    this.#runners = runners
    this.#shared = Array.from({ length: count }, () => new Lane())
    const [first] = this.#shared
    if (first !== undefined) first.runner = runners.start()
  }

  /** Hands a runner to `use`, now or when there is one. `refuse` is called instead when none can be started. */
  use(custody: Custody, build: string, use: Wish["use"], refuse: Wish["refuse"]): void {
    const lane = this.#laneOf(custody, build)
    if (lane !== undefined) {
      this.#useLane(lane, { use, refuse })
    } else if (this.#soloWaiting.length >= soloWaitingMax) {
      refuse(`${soloWaitingMax} runs wait for a runner of their own already`)
    } else {
      this.#soloWaiting.push({ build, use, refuse })
      this.vacated()
    }
  }

  /** A runner has become idle: where it is one build's own, another may have its place. */
  vacated(): void {
    if (this.#soloWaiting.length === 0) return
    for (const [build, lane] of this.#solo) {
      const { runner } = lane
      if (lane.queue.length > 0 || (runner !== undefined && !this.#runners.isIdle(runner))) continue
      clearTimeout(lane.restart)
      this.#solo.delete(build)
      lane.runner = undefined
      if (runner !== undefined) this.#runners.release(runner)
      this.#fillSolo()
    }
  }

  /** Gives free places to the builds that wait for one, each with all of its work. */
  #fillSolo(): void {
    while (this.#solo.size < soloMax) {
      const [next] = this.#soloWaiting
      if (next === undefined) return
      const lane = new Lane()
      this.#solo.set(next.build, lane)
      const waiting = this.#soloWaiting.splice(0)
      for (const wish of waiting) {
        if (wish.build === next.build) this.#useLane(lane, wish)
        else this.#soloWaiting.push(wish)
      }
    }
  }

  #useLane(lane: Lane, { use, refuse }: Wish): void {
    lane.usedAt = performance.now()
    if (this.#others === "not yet") this.#others = setTimeout(() => this.#startOthers(), othersMs)
    if (lane.runner === undefined && lane.restart === undefined) this.#fill(lane)
    if (lane.runner !== undefined) {
      use(lane.runner)
      return
    }
    if (this.#failures >= failuresMax) {
      refuse("its runners do not start")
      return
    }
    lane.queue.push({ use, refuse })
  }

  /** The runner started: whatever made earlier ones fail is over. */
  booted(): void {
    this.#failures = 0
  }

  /** The runner takes no more work: its place gets another. `failed` says that it never started. */
  replace(runner: RunnerProcess, failed: boolean): void {
    if (this.#closed) return
    if (failed) this.#failures++
    if (this.#spare === runner) {
      this.#spare = undefined
      if (!failed) this.#spare = this.#runners.start()
      return
    }
    for (const lane of this.#all()) {
      if (lane.runner !== runner) continue
      lane.runner = undefined
      if (!this.#shared.includes(lane) && lane.queue.length === 0) return
      this.#refill(lane)
    }
  }

  /** Runners of solo and penal places that nobody used since `before`; their places are given up. */
  expire(before: number): ReadonlyArray<RunnerProcess> {
    const expired: Array<RunnerProcess> = []
    for (const [build, lane] of this.#solo) {
      if (lane.usedAt >= before || lane.queue.length > 0) continue
      this.#solo.delete(build)
      if (lane.runner !== undefined) expired.push(lane.runner)
    }
    if (this.#penal !== undefined && this.#penal.usedAt < before && this.#penal.queue.length === 0) {
      if (this.#penal.runner !== undefined) expired.push(this.#penal.runner)
      this.#penal = undefined
    }
    return expired
  }

  close(): void {
    this.#closed = true
    if (typeof this.#others === "object") clearTimeout(this.#others)
    for (const lane of this.#all()) {
      clearTimeout(lane.restart)
      for (const { refuse } of lane.queue.splice(0)) refuse("it is closed")
    }
    for (const { refuse } of this.#soloWaiting.splice(0)) refuse("it is closed")
  }

  #laneOf(custody: Custody, build: string): Lane | undefined {
    if (custody === "shared") return this.#preferred(build)
    if (custody === "penal") {
      this.#penal ??= new Lane()
      return this.#penal
    }
    const known = this.#solo.get(build)
    const othersWait = this.#soloWaiting.length > 0
    if (known !== undefined) return othersWait && performance.now() - known.since > soloTurnMs ? undefined : known
    if (othersWait || this.#solo.size >= soloMax) return undefined
    const lane = new Lane()
    this.#solo.set(build, lane)
    return lane
  }

  /** The place with the highest hash whose runner is up; failing that, one whose runner starts, or the one of all. */
  #preferred(build: string): Lane | undefined {
    let best: Lane | undefined
    let bestScore = -1
    for (const [index, lane] of this.#shared.entries()) {
      const score = hash(build, index) + readiness(lane.runner) * 2 ** 32
      if (score <= bestScore) continue
      best = lane
      bestScore = score
    }
    return best
  }

  #startOthers(): void {
    this.#others = "started"
    for (const lane of this.#shared) {
      if (lane.runner === undefined && lane.restart === undefined) lane.runner = this.#runners.start()
    }
    this.#spare ??= this.#runners.start()
  }

  #refill(lane: Lane): void {
    if (this.#failures === 0) {
      this.#fill(lane)
      return
    }
    const delay = Math.min(backoffMaxMs, backoffBaseMs * 2 ** (this.#failures - 1))
    lane.restart = setTimeout(() => {
      lane.restart = undefined
      this.#fill(lane)
    }, delay)
    if (this.#failures >= failuresMax) {
      for (const { refuse } of lane.queue.splice(0)) refuse("its runners do not start")
    }
  }

  #fill(lane: Lane): void {
    const runner = this.#takeSpare() ?? this.#runners.start()
    lane.runner = runner
    for (const { use } of lane.queue.splice(0)) use(runner)
  }

  #takeSpare(): RunnerProcess | undefined {
    const spare = this.#spare
    if (spare?.state === "dead") return undefined
    this.#spare = this.#failures === 0 && this.#others === "started" ? this.#runners.start() : undefined
    return spare
  }

  *#all(): Iterable<Lane> {
    yield* this.#shared
    yield* this.#solo.values()
    if (this.#penal !== undefined) yield this.#penal
  }
}

const readiness = (runner: RunnerProcess | undefined): number =>
  runner === undefined ? 0 : runner.state === "ready" ? 2 : 1

/** FNV-1a over the text and the number, below 2^32. */
const hash = (text: string, index: number): number => {
  let state = 2166136261 ^ index
  for (let at = 0; at < text.length; at++) state = Math.imul(state ^ text.charCodeAt(at), 16777619)
  // FNV alone mixes the last characters badly into the high bits.
  state = Math.imul(state ^ (state >>> 15), 2246822507)
  return (state ^ (state >>> 13)) >>> 0
}
