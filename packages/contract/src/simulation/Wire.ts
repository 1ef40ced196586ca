/** The way that news takes between nodes, and what can be wrong with it: a transport for the shared feed. */
import { FeedAway, type FeedSignal, type FeedTransport, Timestamp } from "@weft/core"
import { Effect, Queue, type Scope } from "effect"
import type { Draws } from "./Draws.ts"
import type { Kernel, Machine } from "./Kernel.ts"
import type { FeedFault } from "./Scenario.ts"

interface End {
  readonly machine: Machine
  readonly received: Queue.Queue<FeedSignal>
  /** When the last text of each sender arrives here: none overtakes it. */
  readonly lastOf: Map<End, number>
  /**
   * Those of whose texts the last was lost on its way here, and since when, in milliseconds since the beginning: nothing
   * tells of that until they send another.
   */
  readonly missed: Map<End, number>
  /** What was missed and was known `at`, by the next text. */
  readonly known: Array<{ readonly since: number; readonly at: number }>
  /** Whether what it says next was refused, and waits to be said again. */
  isRefused: boolean
  /** When its node had said its last, in milliseconds since the beginning. */
  closedAt: number | null
  fault: FeedFault | null
}

const delayMaxMs = 3
const slowMaxMs = 2_000

/** How long a node may take to tell from a slow store what it knows that it missed, in milliseconds. */
const makingUpMs = 30_000

export class Wire {
  readonly #kernel: Kernel
  readonly #draws: Draws
  readonly #ends = new Map<Machine, End>()
  /** Also of machines that are gone. */
  readonly #known = new Map<Machine, End>()
  injected = 0

  constructor(kernel: Kernel, draws: Draws) {
    this.#kernel = kernel
    this.#draws = draws
  }

  connect(machine: Machine): Effect.Effect<FeedTransport, never, Scope.Scope> {
    return Effect.gen({ self: this }, function* () {
      const received = yield* Queue.unbounded<FeedSignal>()
      const end: End = {
        machine,
        received,
        lastOf: new Map(),
        missed: new Map(),
        known: [],
        fault: null,
        isRefused: false,
        closedAt: null
      }
      this.#ends.set(machine, end)
      this.#known.set(machine, end)
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          end.closedAt = this.#kernel.elapsed
        })
      )
      return { textBytesMax: 7999, received, send: (texts) => Effect.suspend(() => this.#send(end, texts)) }
    })
  }

  /** When the machine's node had said its last, in milliseconds since the beginning; null: it may say more. */
  closedAt(machine: Machine): number | null {
    return this.#known.get(machine)?.closedAt ?? null
  }

  disconnect(machine: Machine): void {
    this.#ends.delete(machine)
  }

  /** From now on this is wrong with what the machine sends and hears; null: nothing. */
  set(machine: Machine, fault: FeedFault | null): void {
    const end = this.#ends.get(machine)
    if (end === undefined) return
    if (fault === "away") this.#signal(end, { _tag: "Away", since: Timestamp.make(Math.floor(this.#kernel.now)) })
    if (end.fault === "away" && fault !== "away") this.#signal(end, { _tag: "Back" })
    end.fault = fault
  }

  /** Whether all that the machine has said so far was heard, or is known to be missing. */
  isHeard(machine: Machine): boolean {
    const own = this.#ends.get(machine)
    return (
      own !== undefined &&
      own.fault === null &&
      !own.isRefused &&
      ![...this.#ends.values()].some(({ missed }) => missed.has(own))
    )
  }

  /**
   * Since when, in milliseconds since the beginning, the machine has missed texts, and could not know, or has known for so
   * short a time that it may not have made up for it; null: it has missed none.
   */
  missedSince(machine: Machine): number | null {
    const end = this.#known.get(machine)
    if (end === undefined) return null
    const made = end.known.filter(({ at }) => at > this.#kernel.elapsed - makingUpMs).map(({ since }) => since)
    const times = [...end.missed.values(), ...made]
    return times.length === 0 ? null : Math.min(...times)
  }

  #send(from: End, texts: ReadonlyArray<string>): Effect.Effect<void, FeedAway> {
    this.#kernel.trace.add(`${from.machine.name} tells ${texts.length}`)
    if (from.fault === "away" || (from.fault === "refused" && this.#draws.chance(0.7))) {
      this.injected++
      // Some may have heard of it, and will again.
      if (from.fault === "refused" && this.#draws.chance(0.5)) this.#spread(from, texts)
      from.isRefused = true
      return Effect.fail(new FeedAway({ cause: "as drawn" }))
    }
    this.#spread(from, texts)
    from.isRefused = false
    return Effect.void
  }

  #spread(from: End, texts: ReadonlyArray<string>): void {
    for (const end of this.#ends.values()) {
      if (end !== from && (end.fault === "away" || end.fault === "lost")) {
        this.injected++
        if (!end.missed.has(from)) end.missed.set(from, this.#kernel.elapsed)
        continue
      }
      const since = end.missed.get(from)
      if (since !== undefined) end.known.push({ since, at: this.#kernel.elapsed })
      end.missed.delete(from)
      const isSlow = end !== from && end.fault === "slow"
      if (isSlow) this.injected++
      const delay = this.#draws.share() * (isSlow ? slowMaxMs : delayMaxMs)
      const at = Math.max(this.#kernel.elapsed + delay, (end.lastOf.get(from) ?? 0) + 0.001)
      end.lastOf.set(from, at)
      this.#kernel.after(end.machine, at - this.#kernel.elapsed, () => {
        for (const text of texts) Queue.offerUnsafe(end.received, { _tag: "Text", text })
      })
    }
  }

  #signal(end: End, signal: FeedSignal): void {
    this.#kernel.after(end.machine, 0, () => Queue.offerUnsafe(end.received, signal))
  }
}
