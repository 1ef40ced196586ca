/**
 * Somebody who watches all that happens in the environment, and who comes back, to another node where theirs is gone,
 * with the position that they had got to.
 */
import { type Activity, type EnvId, type EventId, type RunId, Streams, type Subscription } from "@weft/core"
import { Effect } from "effect"
import type { Host } from "./Host.ts"
import type { Kernel } from "./Kernel.ts"
import { nameOf, type Stored, type Truth } from "./Truth.ts"
import type { Wire } from "./Wire.ts"

/** Between two tries to watch, in milliseconds. */
const againMs = 500

export class Watcher {
  readonly #kernel: Kernel
  readonly #hosts: ReadonlyArray<Host>
  readonly #envId: EnvId
  readonly #truth: Truth
  readonly #wire: Wire
  readonly #told = new Set<string>()
  #position: string | undefined
  #isWatching = false
  #isDone = false
  /** Milliseconds since 1970: what is stored later must be told. */
  #since = Number.POSITIVE_INFINITY
  readonly #moves: Array<Move> = []
  messages = 0

  constructor(kernel: Kernel, hosts: ReadonlyArray<Host>, envId: EnvId, truth: Truth, wire: Wire) {
    this.#kernel = kernel
    this.#hosts = hosts
    this.#envId = envId
    this.#truth = truth
    this.#wire = wire
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
    const machine = this.#hosts[node]?.life?.machine
    const again = () => {
      if (this.#isWatching) {
        const missedSince = machine === undefined ? null : this.#wire.missedSince(machine)
        this.#moves.push({ from: this.#kernel.elapsed, until: Number.POSITIVE_INFINITY, missedSince })
      }
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
    const move = this.#moves.at(-1)
    if (move !== undefined) move.until = this.#kernel.elapsed
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

  #isExcused(id: EventId | RunId): boolean {
    const stored = this.#truth.storedBy.get(id)
    return stored !== undefined && (this.#isOfGone(stored) || this.#isOfLeft(stored))
  }

  /**
   * Who stored it died before it could tell anybody, or had stopped before it knew, for a host that asked while it closed
   * the node, or when nobody could hear it, or while this watcher was nowhere, so that it came to a node that knows nothing of it.
   */
  #isOfGone({ node, at, isLate }: Stored): boolean {
    const sinceMs = isLate ? lateMs : untoldMs
    return this.#hosts.some(({ deaths, stops }) => {
      const [death, stop] = [deaths.get(node), stops.get(node)]
      if (death !== undefined) return at > death - sinceMs
      if (stop === undefined) return false
      const isBetween = this.#moves.some(({ from, until }) => stop.at >= from && stop.at <= until)
      return at > stop.at - (isLate || isBetween ? sinceMs : lastMs) || !stop.isHeard
    })
  }

  /** The node that was left had missed it, and could not know yet: others say again after half a minute what was lost. */
  #isOfLeft({ at, isLate }: Stored): boolean {
    const sinceMs = isLate ? lateMs : untoldMs
    return this.#moves.some(({ from, missedSince }) => missedSince !== null && at > missedSince - sinceMs && at <= from)
  }
}

/** From one node to another, in milliseconds since the beginning. */
interface Move {
  readonly from: number
  until: number
  /** Since when the first one had missed what it could not know of. */
  readonly missedSince: number | null
}

/** What reached the store late is told by then, in milliseconds. */
const lateMs = 200_000

/**
 * What a node stores that dies within this time, in milliseconds, it may have told nobody: where the answer was lost, it
 * would have looked again by then.
 */
const untoldMs = 40_000

/** Between the last word of a node that stops and its end, in milliseconds, with the time that an answer takes. */
const lastMs = 20

/** Clocks of nodes differ by so much, in milliseconds. */
const slackMs = 3_000

const endings = { running: "run:start", succeeded: "run:stop", failed: "run:fail", cancelled: "run:cancel" } as const
