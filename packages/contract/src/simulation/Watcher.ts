/**
 * Somebody who watches all that happens in the environment, and who comes back, to another node where theirs is gone,
 * with the position that they had got to.
 */
import { type Activity, type EnvId, type EventId, type RunId, Streams, type Subscription } from "@weft/core"
import { Effect } from "effect"
import type { Host } from "./Host.ts"
import type { Kernel } from "./Kernel.ts"
import { nameOf, type Truth } from "./Truth.ts"

/** Between two tries to watch, in milliseconds. */
const againMs = 500

export class Watcher {
  readonly #kernel: Kernel
  readonly #hosts: ReadonlyArray<Host>
  readonly #envId: EnvId
  readonly #truth: Truth
  readonly #told = new Set<string>()
  #position: string | undefined
  #isWatching = false
  #isDone = false
  /** Milliseconds since 1970: what is stored later must be told. */
  #since = Number.POSITIVE_INFINITY
  messages = 0

  constructor(kernel: Kernel, hosts: ReadonlyArray<Host>, envId: EnvId, truth: Truth) {
    this.#kernel = kernel
    this.#hosts = hosts
    this.#envId = envId
    this.#truth = truth
  }

  get isWatching(): boolean {
    return this.#isWatching
  }

  /** Watches from now on, first at this node. */
  begin(node: number): void {
    const watching = Effect.scoped(
      Effect.gen({ self: this }, function* () {
        const streams = yield* Streams
        const subscription = yield* streams.ofEnv(this.#position)
        this.#begun(subscription)
        while (true) {
          const news = yield* subscription.take
          if (typeof news === "string") return
          for (const { activity, position } of news.flat()) this.#hear(activity, position)
        }
      })
    )
    const again = () => {
      this.#isWatching = false
      if (this.#isDone) return
      this.#kernel.after(this.#kernel.world, againMs, () => this.begin((node + 1) % this.#hosts.length))
    }
    this.#hosts[node]?.ask(this.#envId, watching, again, true)
  }

  /** What follows is of no interest any more. */
  end(): void {
    this.#isDone = true
  }

  #begun({ begin }: Subscription): void {
    this.#kernel.trace.add("watching begins")
    this.#isWatching = true
    this.#position ??= begin
    this.#since = Math.min(this.#since, this.#kernel.now)
  }

  #hear(activity: Activity, position: string): void {
    this.messages++
    this.#position = position
    if ("event_id" in activity) this.#told.add(`${activity.type} ${activity.event_id}`)
    else if ("run_id" in activity) this.#told.add(`${activity.type} ${activity.run_id}`)
  }

  /** What is stored and was not told. */
  get missing(): ReadonlyArray<string> {
    const { events, runs } = this.#truth
    return [
      ...[...events.values()].flatMap(({ event_id, created_at }) =>
        this.#isMissing("event:created", event_id, created_at) ? [`event ${event_id}`] : []
      ),
      ...[...runs.values()].flatMap((run) =>
        this.#isMissing(endings[run.status], run.run_id, run.start_time) ? [`${nameOf(run)}, ${run.status}`] : []
      )
    ]
  }

  #isMissing(type: Activity["type"], id: EventId | RunId, begun: number): boolean {
    return begun >= this.#since + slackMs && !this.#told.has(`${type} ${id}`) && !this.#isExcused(id)
  }

  /** Who stored it died before it could tell anybody, or had stopped before it arrived, or when nobody could hear it. */
  #isExcused(id: EventId | RunId): boolean {
    const stored = this.#truth.storedBy.get(id)
    if (stored === undefined) return false
    const { node, at, isLate } = stored
    return this.#hosts.some(({ deaths, stops }) => {
      const [death, stop] = [deaths.get(node), stops.get(node)]
      if (death !== undefined) return at > death - (isLate ? lateMs : untoldMs)
      return stop !== undefined && (at > stop.at - (isLate ? lateMs : 0) || !stop.isHeard)
    })
  }
}

/** What reached the store late is told by then, in milliseconds. */
const lateMs = 200_000

/**
 * What a node stores that dies within this time, in milliseconds, it may have told nobody: where the answer was lost, it
 * would have looked again by then.
 */
const untoldMs = 40_000

/** Clocks of nodes differ by so much, in milliseconds. */
const slackMs = 3_000

const endings = { running: "run:start", succeeded: "run:stop", failed: "run:fail", cancelled: "run:cancel" } as const
