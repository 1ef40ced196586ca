/** What the pool knows of a runner: who is in it, and who is computing. */
import { type BuildId, Roster } from "@weft/core"
import type { FromRunner } from "../protocol/FromRunner.ts"
import { ProtocolError } from "../protocol/Wire.ts"
import { type Build, HostedIsolate } from "./Build.ts"
import type { Job } from "./Job.ts"
import { Room, type RoomOptions } from "./Room.ts"
import type { RunnerProcess } from "./RunnerProcess.ts"
import type { Strikes } from "./Strikes.ts"

/** Lost isolates whose builds are remembered: what is said of one comes within seconds. */
const lostMax = 1_000

export class RunnerView {
  readonly runner: RunnerProcess
  readonly jobs = new Roster<number, Job>()
  readonly isolates = new Map<number, HostedIsolate>()
  readonly room: Room
  /** Isolates in a long entry, with the run that was computing when that was noticed. */
  readonly busy = new Map<number, number>()
  /** The builds of isolates that were lost, for what is said of them soon after. */
  readonly #lost = new Map<number, BuildId>()
  booted = false
  /** Set before it is killed on purpose: then nobody in it is to blame for its death. */
  doomed = false
  timer: NodeJS.Timeout | undefined

  constructor(runner: RunnerProcess, room: RoomOptions) {
    this.runner = runner
    this.room = new Room(room)
  }

  /** Takes an isolate that it makes for the build into the books. */
  host(id: number, build: Build, now: number): HostedIsolate {
    const isolate = new HostedIsolate(id, build, now)
    build.isolates.set(this.runner, isolate)
    this.isolates.set(id, isolate)
    this.room.made()
    return isolate
  }

  rememberLost(id: number, buildId: BuildId): void {
    const [oldest] = this.#lost.keys()
    if (this.#lost.size >= lostMax && oldest !== undefined) this.#lost.delete(oldest)
    this.#lost.set(id, buildId)
  }

  buildOfLost(id: number): BuildId | undefined {
    return this.#lost.get(id)
  }

  /** The idle isolate that was used the longest ago. */
  get idlest(): HostedIsolate | undefined {
    let oldest: HostedIsolate | undefined
    for (const isolate of this.isolates.values()) {
      if (isolate.jobs.size === 0 && (oldest === undefined || isolate.lastUsedAt < oldest.lastUsedAt)) oldest = isolate
    }
    return oldest
  }

  /** How much memory it takes, as the system says now. */
  measured(rssBytes: number): void {
    let loading = 0
    for (const { isLoaded } of this.isolates.values()) if (!isLoaded) loading++
    this.room.measured(rssBytes, loading)
  }

  /** Once: what it brings along then is handed to other runners, and it has run nothing yet. */
  boot(): void {
    if (this.booted) throw new ProtocolError("it started twice")
    this.booted = true
  }

  /** What the runner says of the state of an isolate, which must be one that it was told to make. */
  note(message: Extract<FromRunner, { readonly kind: "busy" | "calm" | "worn" | "loaded" }>): void {
    const isolate = this.isolates.get(message.isolate)
    if (isolate === undefined) return
    switch (message.kind) {
      case "busy":
        this.busy.set(isolate.id, message.run)
        return
      case "calm":
        this.busy.delete(isolate.id)
        return
      case "worn":
        isolate.worn = true
        return
      case "loaded":
        isolate.loaded()
        return
    }
  }

  /** The runs that have been computing for long. */
  computing(): ReadonlyArray<Job> {
    const jobs: Array<Job> = []
    for (const run of this.busy.values()) {
      const job = this.jobs.get(run)
      if (job !== undefined) jobs.push(job)
    }
    return jobs
  }

  /** Puts the death of this runner down to those computing in it or, when that is nobody, to all who have runs in it. */
  blame(strikes: Strikes): void {
    const computing = this.computing()
    const suspects = computing.length > 0 ? computing : this.jobs.values()
    if (suspects.length > 0) strikes.suspect(new Set(suspects.map((job) => job.build.buildId)))
  }

  /** Takes an isolate that is no more out of the books; its jobs stay with the caller. */
  forget(id: number): HostedIsolate | undefined {
    const isolate = this.isolates.get(id)
    if (isolate === undefined) return undefined
    this.isolates.delete(id)
    this.busy.delete(id)
    this.room.ended()
    if (isolate.build.isolates.get(this.runner) === isolate) isolate.build.isolates.delete(this.runner)
    return isolate
  }
}
