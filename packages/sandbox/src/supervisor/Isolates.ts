/** Creates and disposes isolates within the memory of runners. If memory is short, builds take turns in round robin. */
import type { Build, IsolateHandle, ReplacementLimits } from "./Build.ts"
import type { RunnerView } from "./RunnerView.ts"

/** Time that a build keeps its place while others wait for one. After that, its new runs wait. */
const quantumMs = 1000
/** Maximum time that those runs wait for the earlier runs to end, which would free the place. */
const drainMs = 2000

export class Isolates {
  readonly #replacement: ReplacementLimits
  #lastId = 0

  constructor(wear: ReplacementLimits) {
    this.#replacement = wear
  }

  /** Returns an id that no active run or isolate has: below 2^32, never 0. */
  freshId(): number {
    this.#lastId = this.#lastId >= 0xfffffffe ? 1 : this.#lastId + 1
    return this.#lastId
  }

  /** Returns the isolate for a new run, or undefined while memory is short or other builds have precedence. */
  acquire(view: RunnerView, build: Build, now: number): IsolateHandle | undefined {
    const isolate = build.isolates.get(view.runner)
    if (isolate === undefined) return this.create(view, build, now)
    return view.memory.hasWaiting && now - isolate.quantumStartedAt > quantumMs ? undefined : isolate
  }

  /** Creates the isolate of a build in the runner, and disposes idle ones of other builds if necessary. */
  create(view: RunnerView, build: Build, now: number): IsolateHandle | undefined {
    if (!this.#reclaimMemory(view)) return undefined
    const isolate = view.addIsolate(this.freshId(), build, now)
    const { script, cache } = build.bundle
    view.runner.send({ kind: "load", isolate: isolate.id, owner: build.owner, describe: false, script, cache })
    return isolate
  }

  /** Records the end of a run. If the isolate is due for replacement, new runs go to another, and its last run ends it. */
  runEnded(view: RunnerView, isolate: IsolateHandle, now: number): void {
    isolate.lastUsedAt = now
    const { isolates } = isolate.build
    if (isolate.shouldReplace(now, this.#replacement) && isolates.get(view.runner) === isolate)
      isolates.delete(view.runner)
    const isCurrent = isolates.get(view.runner) === isolate
    if (isolate.jobs.size === 0 && !isCurrent && view.isolates.has(isolate.id)) this.dispose(view, isolate)
  }

  /** Disposes an idle isolate. */
  dispose(view: RunnerView, isolate: IsolateHandle): void {
    view.runner.send({ kind: "dispose", isolate: isolate.id })
    view.removeIsolate(isolate.id)
  }

  /** Removes and returns the next waiting build that may continue in the runner. */
  nextAdmissible(view: RunnerView, now: number): Build | undefined {
    for (const build of view.memory.waiting) {
      if (!build.hasWaiting) {
        view.memory.dequeue(build)
        continue
      }
      const isolate = build.isolates.get(view.runner)
      const canContinue =
        isolate === undefined
          ? this.#reclaimMemory(view)
          : now - isolate.quantumStartedAt > quantumMs + drainMs || isolate.jobs.size === 0
      if (!canContinue) continue
      if (isolate !== undefined) isolate.quantumStartedAt = now
      view.memory.dequeue(build)
      return build
    }
    return undefined
  }

  #reclaimMemory(view: RunnerView): boolean {
    while (!view.memory.fits(view.isolates.size)) {
      const idle = view.leastRecentlyUsed
      if (idle === undefined) return false
      this.dispose(view, idle)
    }
    return true
  }
}
