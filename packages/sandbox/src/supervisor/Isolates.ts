/** Makes and ends isolates in runners, as far as there is room for them, and says whose turn it is where there is not. */
import type { Build, HostedIsolate, Wear } from "./Build.ts"
import type { RunnerView } from "./RunnerView.ts"

/** How long a build keeps its place while others wait for one; its further runs wait from then on. */
const turnMs = 1000
/** And how long those wait at most for the runs before them to end, which would make room. */
const breakMs = 2000

export class Isolates {
  readonly #wear: Wear
  #lastId = 0

  constructor(wear: Wear) {
    this.#wear = wear
  }

  /** A number that no run or isolate in progress has: below 2^32, never 0. */
  freshId(): number {
    this.#lastId = this.#lastId >= 0xfffffffe ? 1 : this.#lastId + 1
    return this.#lastId
  }

  /** Where a run of the build may begin now; undefined while there is no room, or while it is the turn of others. */
  for(view: RunnerView, build: Build, now: number): HostedIsolate | undefined {
    const isolate = build.isolates.get(view.runner)
    if (isolate === undefined) return this.make(view, build, now)
    return view.room.isWanted && now - isolate.turnAt > turnMs ? undefined : isolate
  }

  /** One for a build that has none in the runner, for which idle ones may have to go. */
  make(view: RunnerView, build: Build, now: number): HostedIsolate | undefined {
    if (!this.#hasRoom(view)) return undefined
    const isolate = view.host(this.freshId(), build, now)
    const { script, cache } = build.bundle
    view.runner.send({ kind: "load", isolate: isolate.id, describe: false, script, cache })
    return isolate
  }

  /** A run has left the isolate. Where that is worn, new runs go to another, and it is ended with its last one. */
  left(view: RunnerView, isolate: HostedIsolate, now: number): void {
    isolate.lastUsedAt = now
    const { isolates } = isolate.build
    if (isolate.isWorn(now, this.#wear) && isolates.get(view.runner) === isolate) isolates.delete(view.runner)
    const isCurrent = isolates.get(view.runner) === isolate
    if (isolate.jobs.size === 0 && !isCurrent && view.isolates.has(isolate.id)) this.drop(view, isolate)
  }

  /** Ends an idle isolate. */
  drop(view: RunnerView, isolate: HostedIsolate): void {
    view.runner.send({ kind: "drop", isolate: isolate.id })
    view.forget(isolate.id)
  }

  /** The next build that need not wait any more, of those that wait for room in the runner. */
  admitted(view: RunnerView, now: number): Build | undefined {
    for (const build of view.room.waiting) {
      if (!build.isAwaited) {
        view.room.leave(build)
        continue
      }
      const isolate = build.isolates.get(view.runner)
      const mayGoOn =
        isolate === undefined ? this.#hasRoom(view) : now - isolate.turnAt > turnMs + breakMs || isolate.jobs.size === 0
      if (!mayGoOn) continue
      if (isolate !== undefined) isolate.turnAt = now
      view.room.leave(build)
      return build
    }
    return undefined
  }

  #hasRoom(view: RunnerView): boolean {
    while (!view.room.fits(view.isolates.size)) {
      const { idlest } = view
      if (idlest === undefined) return false
      this.drop(view, idlest)
    }
    return true
  }
}
