/** A client that watches an environment. After a disconnect it resumes at another node, from its last position. */
import type { EnvId } from "@weft/core"
import { Streams } from "@weft/core"
import type { ActivityEvent, EventId, RunId } from "@weft/core/adapter"
import type { Subscription } from "@weft/core/internal"
import { Effect } from "effect"
import type { FaultyTransport } from "./FaultyTransport.ts"
import type { Host } from "./Host.ts"
import type { Kernel } from "./Kernel.ts"
import { describeRun, type ReferenceModel, type WriteOrigin } from "./ReferenceModel.ts"

/** Delay before a reconnect, in milliseconds. */
const reconnectMs = 500

export class Watcher {
  readonly #kernel: Kernel
  readonly #hosts: ReadonlyArray<Host>
  readonly #envId: EnvId
  readonly #model: ReferenceModel
  readonly #transport: FaultyTransport
  readonly #received = new Set<string>()
  #position: string | undefined
  #isWatching = false
  #isDone = false
  /** Epoch milliseconds; the watcher must receive everything that is stored later. */
  #since = Number.POSITIVE_INFINITY
  readonly #moves: Array<Move> = []
  messages = 0

  constructor(
    kernel: Kernel,
    hosts: ReadonlyArray<Host>,
    envId: EnvId,
    model: ReferenceModel,
    transport: FaultyTransport
  ) {
    this.#kernel = kernel
    this.#hosts = hosts
    this.#envId = envId
    this.#model = model
    this.#transport = transport
  }

  get isWatching(): boolean {
    return this.#isWatching
  }

  /** Starts to watch, first at this node. */
  begin(node: number): void {
    const watching = Effect.scoped(
      Effect.gen({ self: this }, function* () {
        const streams = yield* Streams
        const subscription = yield* streams.ofEnv(this.#position)
        this.#begun(subscription)
        while (true) {
          const messages = yield* subscription.take
          if (typeof messages === "string") return
          for (const { activity, position } of messages.flat()) this.#receive(activity, position)
        }
      })
    )
    const machine = this.#hosts[node]?.instance?.machine
    const again = () => {
      if (this.#isWatching) {
        const missedSince = machine === undefined ? null : this.#transport.missedSince(machine)
        this.#moves.push({ from: this.#kernel.elapsed, until: Number.POSITIVE_INFINITY, missedSince })
      }
      this.#isWatching = false
      if (this.#isDone) return
      this.#kernel.after(this.#kernel.world, reconnectMs, () => this.begin((node + 1) % this.#hosts.length))
    }
    this.#hosts[node]?.request(this.#envId, watching, again, true)
  }

  /** Stops to watch. */
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

  #receive(activity: ActivityEvent, position: string): void {
    this.messages++
    this.#position = position
    if ("event_id" in activity) this.#received.add(`${activity.type} ${activity.event_id}`)
    else if ("run_id" in activity) this.#received.add(`${activity.type} ${activity.run_id}`)
  }

  /** Stored events and runs that the watcher did not receive. */
  get missing(): ReadonlyArray<string> {
    const { events, runs } = this.#model
    return [
      ...[...events.values()].flatMap(({ event_id, created_at }) =>
        this.#isMissing("event:created", event_id, created_at) ? [`event ${event_id}`] : []
      ),
      ...[...runs.values()].flatMap((run) =>
        this.#isMissing(endings[run.status], run.run_id, run.start_time) ? [`${describeRun(run)}, ${run.status}`] : []
      )
    ]
  }

  #isMissing(type: ActivityEvent["type"], id: EventId | RunId, begun: number): boolean {
    return begun >= this.#since + slackMs && !this.#received.has(`${type} ${id}`) && !this.#isExcused(id)
  }

  #isExcused(id: EventId | RunId): boolean {
    const stored = this.#model.storedBy.get(id)
    return stored !== undefined && (this.#isLostWithNode(stored) || this.#isLostInMove(stored))
  }

  /**
   * True if the node that stored it crashed before it could broadcast it. A node that cannot reach the store needs longer. Also true for a stop that no node could receive,
   * a write during the stop, or a stop while this watcher was between two nodes.
   */
  #isLostWithNode({ node, at, isLate }: WriteOrigin): boolean {
    const sinceMs = isLate ? lateMs : unconfirmedMs
    return this.#hosts.some((host) => {
      const [death, stop] = [host.deaths.get(node), host.stops.get(node)]
      if (death !== undefined) return at > death - sinceMs - host.partitionedMs(node, at, death)
      if (stop === undefined) return false
      const isBetween = this.#moves.some(({ from, until }) => stop.at >= from && stop.at <= until)
      return at > stop.at - (isLate || isBetween ? sinceMs : lastMs) || !stop.isReceived
    })
  }

  /** True if the previous node had missed the message and could not detect it yet: gaps are repaired after 30 s. */
  #isLostInMove({ at, isLate }: WriteOrigin): boolean {
    const sinceMs = isLate ? lateMs : unconfirmedMs
    return this.#moves.some(({ from, missedSince }) => missedSince !== null && at > missedSince - sinceMs && at <= from)
  }
}

/** A reconnect to another node, in elapsed milliseconds. */
interface Move {
  readonly from: number
  until: number
  /** Start of the undetected gap at the previous node. */
  readonly missedSince: number | null
}

/** Maximum delay of messages about writes that reached the store late, in milliseconds. */
const lateMs = 200_000

/**
 * Time in which a node broadcasts its writes, in milliseconds. If the response of a write was lost, the node has queried
 * the store by then. A node that crashes earlier may not have broadcast them.
 */
const unconfirmedMs = 40_000

/** Time between the last message of a stopping node and its end, in milliseconds, with the latency of a response. */
const lastMs = 20

/** Maximum difference between the clocks of nodes, in milliseconds. */
const slackMs = 3_000

const endings = { running: "run:start", succeeded: "run:stop", failed: "run:fail", cancelled: "run:cancel" } as const
