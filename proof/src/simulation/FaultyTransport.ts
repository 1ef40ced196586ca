/** The cluster transport of the simulation, with latency and faults. */
import { type ClusterTransport, Timestamp, TransportDisconnected, type TransportSignal } from "@weft/core/adapter"
import { Effect, Queue, type Scope } from "effect"
import type { Draws } from "./Draws.ts"
import type { Kernel, Machine } from "./Kernel.ts"
import type { FeedFault } from "./Scenario.ts"

/** The endpoint of one node. */
interface Endpoint {
  readonly machine: Machine
  readonly received: Queue.Queue<TransportSignal>
  /** Arrival of the last text of each sender, which later texts never overtake. */
  readonly lastArrival: Map<Endpoint, number>
  /**
   * Senders whose last text was lost, with the start of the gap in elapsed milliseconds. The gap is detected when the
   * sender's next text arrives.
   */
  readonly missed: Map<Endpoint, number>
  /** Gaps since `since` that the next text revealed `at`. */
  readonly detected: Array<{ readonly since: number; readonly at: number }>
  /** True if its last send was refused and will be retried. */
  isRefused: boolean
  /** End of the transport, in elapsed milliseconds; null while it is open. */
  closedAt: number | null
  fault: FeedFault | null
}

const delayMaxMs = 3
const slowMaxMs = 2_000

/** Maximum time of a catch-up from a slow store after a detected gap, in milliseconds. */
const catchUpMs = 30_000

export class FaultyTransport {
  readonly #kernel: Kernel
  readonly #draws: Draws
  readonly #ends = new Map<Machine, Endpoint>()
  /** Endpoints of all machines, including crashed ones. */
  readonly #all = new Map<Machine, Endpoint>()
  injected = 0

  constructor(kernel: Kernel, draws: Draws) {
    this.#kernel = kernel
    this.#draws = draws
  }

  connect(machine: Machine): Effect.Effect<ClusterTransport, never, Scope.Scope> {
    return Effect.gen({ self: this }, function* () {
      const received = yield* Queue.unbounded<TransportSignal>()
      const end: Endpoint = {
        machine,
        received,
        lastArrival: new Map(),
        missed: new Map(),
        detected: [],
        fault: null,
        isRefused: false,
        closedAt: null
      }
      this.#ends.set(machine, end)
      this.#all.set(machine, end)
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          end.closedAt = this.#kernel.elapsed
        })
      )
      return { frameBytesMax: 7999, received, send: (texts) => Effect.suspend(() => this.#send(end, texts)) }
    })
  }

  /** Returns when the node closed its transport, in elapsed milliseconds, or null while it is open. */
  closedAt(machine: Machine): number | null {
    return this.#all.get(machine)?.closedAt ?? null
  }

  disconnect(machine: Machine): void {
    this.#ends.delete(machine)
  }

  /** Sets the fault of the machine's connection; null removes it. */
  set(machine: Machine, fault: FeedFault | null): void {
    const end = this.#ends.get(machine)
    if (end === undefined) return
    if (fault === "away")
      this.#signal(end, { _tag: "Disconnected", since: Timestamp.make(Math.floor(this.#kernel.now)) })
    if (end.fault === "away" && fault !== "away") this.#signal(end, { _tag: "Reconnected" })
    end.fault = fault
  }

  /** True if every text of the machine was received, or its loss was detected. */
  isReceived(machine: Machine): boolean {
    const own = this.#ends.get(machine)
    return (
      own !== undefined &&
      own.fault === null &&
      !own.isRefused &&
      ![...this.#ends.values()].some(({ missed }) => missed.has(own))
    )
  }

  /**
   * Returns the start of a gap that the machine has not detected or may still be repairing, in elapsed milliseconds.
   * Returns null if there is no gap.
   */
  missedSince(machine: Machine): number | null {
    const end = this.#all.get(machine)
    if (end === undefined) return null
    const repairing = end.detected.filter(({ at }) => at > this.#kernel.elapsed - catchUpMs).map(({ since }) => since)
    const times = [...end.missed.values(), ...repairing]
    return times.length === 0 ? null : Math.min(...times)
  }

  #send(from: Endpoint, texts: ReadonlyArray<string>): Effect.Effect<void, TransportDisconnected> {
    this.#kernel.trace.add(`${from.machine.name} sends ${texts.length}`)
    if (from.fault === "away" || (from.fault === "refused" && this.#draws.chance(0.7))) {
      this.injected++
      // Some nodes may receive it now, and again with the retry.
      if (from.fault === "refused" && this.#draws.chance(0.5)) this.#broadcast(from, texts)
      from.isRefused = true
      return Effect.fail(new TransportDisconnected({ cause: "as drawn" }))
    }
    this.#broadcast(from, texts)
    from.isRefused = false
    return Effect.void
  }

  #broadcast(from: Endpoint, texts: ReadonlyArray<string>): void {
    for (const end of this.#ends.values()) {
      if (end !== from && (end.fault === "away" || end.fault === "lost")) {
        this.injected++
        if (!end.missed.has(from)) end.missed.set(from, this.#kernel.elapsed)
        continue
      }
      const since = end.missed.get(from)
      if (since !== undefined) end.detected.push({ since, at: this.#kernel.elapsed })
      end.missed.delete(from)
      const isSlow = end !== from && end.fault === "slow"
      if (isSlow) this.injected++
      const delay = this.#draws.share() * (isSlow ? slowMaxMs : delayMaxMs)
      const at = Math.max(this.#kernel.elapsed + delay, (end.lastArrival.get(from) ?? 0) + 0.001)
      end.lastArrival.set(from, at)
      this.#kernel.after(end.machine, at - this.#kernel.elapsed, () => {
        for (const text of texts) Queue.offerUnsafe(end.received, { _tag: "Frame", frame: text })
      })
    }
  }

  #signal(end: Endpoint, signal: TransportSignal): void {
    this.#kernel.after(end.machine, 0, () => Queue.offerUnsafe(end.received, signal))
  }
}
