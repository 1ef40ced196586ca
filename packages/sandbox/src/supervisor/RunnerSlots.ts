/**
 * Slots for runners, and the assignment of builds to slots.
 *
 * A slot outlives its runners: when one dies, the spare runner or a new one replaces it. So builds keep their slot by
 * rendezvous hashing. Other slots are the suspect pool, for suspects and for builds that compute too
 * long, and solo slots, each for one build.
 */

import { fnv1a } from "./fnv1a.ts"
import type { RunnerProcess } from "./RunnerProcess.ts"
import type { Placement } from "./Strikes.ts"

export interface RunnerLifecycle {
  /** Starts a process. Call `RunnerSlots.replace` when it dies. */
  readonly start: () => RunnerProcess
  /** True if no job runs in it. */
  readonly isIdle: (runner: RunnerProcess) => boolean
  /** Called for an idle runner that is no longer needed. */
  readonly release: (runner: RunnerProcess) => void
}

interface SlotRequest {
  readonly onRunner: (runner: RunnerProcess) => void
  readonly reject: (reason: string) => void
}

/** Maximum solo slots. Further builds wait; each keeps its slot for at least `soloTurnMs`. */
const soloMax = 4
const soloTurnMs = 2000
const soloWaitingMax = 10_000
const backoffBaseMs = 100
const backoffMaxMs = 10_000
/** Delay between the first work and the start of the other runners, so that their start does not slow down that work. */
const remainingDelayMs = 250
/** Failed starts in a row after which requests are rejected instead of queued. */
const failuresMax = 4

export class RunnerSlot {
  runner: RunnerProcess | undefined
  /** Requests that arrived without a runner. */
  readonly queue: Array<SlotRequest> = []
  readonly openedAt = performance.now()
  usedAt = 0
  restartTimer: NodeJS.Timeout | undefined
}

export class RunnerSlots {
  readonly #runners: RunnerLifecycle
  readonly #shared: ReadonlyArray<RunnerSlot>
  readonly #solo = new Map<string, RunnerSlot>()
  /** Requests for a solo slot, in order of arrival. */
  readonly #soloWaiting: Array<SlotRequest & { readonly build: string }> = []
  #suspectPool: RunnerSlot | undefined
  /** The start of all runners but the first, which waits for the first work. */
  #remaining: "not yet" | NodeJS.Timeout | "started" = "not yet"
  #spare: RunnerProcess | undefined
  #failures = 0
  #closed = false

  constructor(count: number, runners: RunnerLifecycle) {
    this.#runners = runners
    this.#shared = Array.from({ length: count }, () => new RunnerSlot())
    const [first] = this.#shared
    if (first !== undefined) first.runner = runners.start()
  }

  /** Passes a runner to `onRunner`, now or when one is available. Calls `reject` instead if no runner can be started. */
  acquire(placement: Placement, build: string, onRunner: SlotRequest["onRunner"], reject: SlotRequest["reject"]): void {
    const slot = this.#findSlot(placement, build)
    if (slot !== undefined) {
      this.#enter(slot, { onRunner, reject })
    } else if (this.#soloWaiting.length >= soloWaitingMax) {
      reject(`${soloWaitingMax} runs already wait for a solo runner`)
    } else {
      this.#soloWaiting.push({ build, onRunner, reject })
      this.runnerIdle()
    }
  }

  /** Handles a runner that became idle: if its slot is a solo slot, a waiting build receives it. */
  runnerIdle(): void {
    if (this.#soloWaiting.length === 0) return
    for (const [build, slot] of this.#solo) {
      const { runner } = slot
      if (slot.queue.length > 0 || (runner !== undefined && !this.#runners.isIdle(runner))) continue
      clearTimeout(slot.restartTimer)
      this.#solo.delete(build)
      slot.runner = undefined
      if (runner !== undefined) this.#runners.release(runner)
      this.#fillSolo()
    }
  }

  /** Assigns free solo slots to waiting builds, each with all its requests. */
  #fillSolo(): void {
    while (this.#solo.size < soloMax) {
      const [next] = this.#soloWaiting
      if (next === undefined) return
      const slot = new RunnerSlot()
      this.#solo.set(next.build, slot)
      const waiting = this.#soloWaiting.splice(0)
      for (const request of waiting) {
        if (request.build === next.build) this.#enter(slot, request)
        else this.#soloWaiting.push(request)
      }
    }
  }

  #enter(slot: RunnerSlot, { onRunner, reject }: SlotRequest): void {
    slot.usedAt = performance.now()
    if (this.#remaining === "not yet") this.#remaining = setTimeout(() => this.#startRemaining(), remainingDelayMs)
    if (slot.runner === undefined && slot.restartTimer === undefined) this.#fill(slot)
    if (slot.runner !== undefined) {
      onRunner(slot.runner)
      return
    }
    if (this.#failures >= failuresMax) {
      reject("its runners do not start")
      return
    }
    slot.queue.push({ onRunner, reject })
  }

  /** Resets the count of failed starts: a runner started. */
  runnerBooted(): void {
    this.#failures = 0
  }

  /** Replaces a runner that accepts no more work. `failed` is true if it never started. */
  replace(runner: RunnerProcess, failed: boolean): void {
    if (this.#closed) return
    if (failed) this.#failures++
    if (this.#spare === runner) {
      this.#spare = undefined
      if (!failed) this.#spare = this.#runners.start()
      return
    }
    for (const slot of this.#all()) {
      if (slot.runner !== runner) continue
      slot.runner = undefined
      if (!this.#shared.includes(slot) && slot.queue.length === 0) return
      this.#refill(slot)
    }
  }

  /** Removes solo slots and the suspect pool that were not used since `before`, and returns their runners. */
  expire(before: number): ReadonlyArray<RunnerProcess> {
    const expired: Array<RunnerProcess> = []
    for (const [build, slot] of this.#solo) {
      if (slot.usedAt >= before || slot.queue.length > 0) continue
      this.#solo.delete(build)
      if (slot.runner !== undefined) expired.push(slot.runner)
    }
    if (this.#suspectPool !== undefined && this.#suspectPool.usedAt < before && this.#suspectPool.queue.length === 0) {
      if (this.#suspectPool.runner !== undefined) expired.push(this.#suspectPool.runner)
      this.#suspectPool = undefined
    }
    return expired
  }

  close(): void {
    this.#closed = true
    if (typeof this.#remaining === "object") clearTimeout(this.#remaining)
    for (const slot of this.#all()) {
      clearTimeout(slot.restartTimer)
      for (const { reject } of slot.queue.splice(0)) reject("it is closed")
    }
    for (const { reject } of this.#soloWaiting.splice(0)) reject("it is closed")
  }

  #findSlot(placement: Placement, build: string): RunnerSlot | undefined {
    if (placement === "shared") return this.#findShared(build)
    if (placement === "suspectPool") {
      this.#suspectPool ??= new RunnerSlot()
      return this.#suspectPool
    }
    const known = this.#solo.get(build)
    const othersWait = this.#soloWaiting.length > 0
    if (known !== undefined) return othersWait && performance.now() - known.openedAt > soloTurnMs ? undefined : known
    if (othersWait || this.#solo.size >= soloMax) return undefined
    const slot = new RunnerSlot()
    this.#solo.set(build, slot)
    return slot
  }

  /** Returns the slot with the highest hash among those with a ready runner, else with a booting runner, else of all. */
  #findShared(build: string): RunnerSlot | undefined {
    let best: RunnerSlot | undefined
    let bestScore = -1
    for (const [index, slot] of this.#shared.entries()) {
      const score = fnv1a(build, index) + readiness(slot.runner) * 2 ** 32
      if (score <= bestScore) continue
      best = slot
      bestScore = score
    }
    return best
  }

  #startRemaining(): void {
    this.#remaining = "started"
    for (const slot of this.#shared) {
      if (slot.runner === undefined && slot.restartTimer === undefined) slot.runner = this.#runners.start()
    }
    this.#spare ??= this.#runners.start()
  }

  #refill(slot: RunnerSlot): void {
    if (this.#failures === 0) {
      this.#fill(slot)
      return
    }
    const delay = Math.min(backoffMaxMs, backoffBaseMs * 2 ** (this.#failures - 1))
    slot.restartTimer = setTimeout(() => {
      slot.restartTimer = undefined
      this.#fill(slot)
    }, delay)
    if (this.#failures >= failuresMax) {
      for (const { reject } of slot.queue.splice(0)) reject("its runners do not start")
    }
  }

  #fill(slot: RunnerSlot): void {
    const runner = this.#takeSpare() ?? this.#runners.start()
    slot.runner = runner
    for (const { onRunner } of slot.queue.splice(0)) onRunner(runner)
  }

  #takeSpare(): RunnerProcess | undefined {
    const spare = this.#spare
    if (spare?.state === "dead") return undefined
    this.#spare = this.#failures === 0 && this.#remaining === "started" ? this.#runners.start() : undefined
    return spare
  }

  *#all(): Iterable<RunnerSlot> {
    yield* this.#shared
    yield* this.#solo.values()
    if (this.#suspectPool !== undefined) yield this.#suspectPool
  }
}

const readiness = (runner: RunnerProcess | undefined): number =>
  runner === undefined ? 0 : runner.state === "ready" ? 2 : 1
