/**
 * One subscriber's end of a channel: what it has not taken yet, within bounds.
 *
 * Who takes too slowly is cut off, so that neither memory nor other subscribers suffer for it.
 */
import { Effect } from "effect"
import type { Message, Position } from "./Message.ts"
import { weightOf } from "./Message.ts"
import type { Turns } from "./Turns.ts"

/** Why a subscription is over: its time was up, its host is closing, or it was too slow. */
export type Ending = "expired" | "closed" | "cut"

export interface Subscription {
  /** Where it began: a later one that begins there misses nothing that this one got and is still kept. */
  readonly begin: Position
  /**
   * What has come since the last call, in order, in the portions in which it came; waits for it. No portion: it was
   * nudged. The ending, once everything was taken. Not to be called again before it has returned, and before all that it
   * gave was dealt with.
   */
  readonly take: Effect.Effect<Told>
  /** What `take` would give at once; null where it would wait. */
  readonly taken: () => Told | null
  /** Calls back once, when it is its turn to be given something by `taken`, which has given null. Gives how to wait no longer. */
  readonly await: (act: () => void) => () => void
  /** Has `take` return, if it waits. */
  readonly nudge: Effect.Effect<void>
  /** Nothing more will come. `cut` also drops what is not taken yet. */
  readonly end: (ending: Ending) => Effect.Effect<void>
  /** Calls back when it is cut, for a taker that is stuck with what it took; not where it was cut before: `take` tells. */
  readonly onCut: (act: () => void) => void
}

export type Told = ReadonlyArray<Portion> | Ending

/** Messages that came together. Subscribers of the whole environment get the very same arrays. */
export type Portion = ReadonlyArray<Message>

export interface QueueBounds {
  readonly messages: number
  readonly bytes: number
}

/** What was missed is given in so many messages each: what was sent is let go before the rest is. */
const missedPortion = 256

/** How much more may wait for one that waits for what it missed itself. */
const awaitingFactor = 20

export class Subscriber implements Subscription {
  readonly begin: Position
  readonly #bounds: QueueBounds
  readonly #turns: Pick<Turns, "wait">
  #portions: Array<Portion> = []
  #messages = 0
  #bytes = 0
  #isNudged = false
  #isAwaiting = false
  #missed: { isTaken: boolean; readonly dealtWith: () => void } | null = null
  #ending: Ending | null = null
  #wake: (() => void) | null = null
  #isInTurn = false
  #cut: (() => void) | null = null

  constructor(begin: Position, bounds: QueueBounds, turns: Pick<Turns, "wait">) {
    this.begin = begin
    this.#bounds = bounds
    this.#turns = turns
  }

  get isOver(): boolean {
    return this.#ending !== null
  }

  /** What it has not taken yet. */
  get waiting(): ReadonlyArray<Message> {
    return this.#portions.flat()
  }

  /** What it missed is being looked for. It cannot take anything before, so that it may be behind a little longer. */
  awaitMissed(): void {
    this.#isAwaiting = true
  }

  /** Gives it what it missed, before all that waits. Neither counts towards the bounds. Calls back when that was dealt with. */
  prepend(missed: Portion, dealtWith: () => void): void {
    this.#isAwaiting = false
    this.#messages = 0
    this.#bytes = 0
    if (missed.length === 0 || this.#ending === "cut") {
      dealtWith()
      return
    }
    this.#missed = { isTaken: false, dealtWith }
    for (let end = missed.length; end > 0; end -= missedPortion) {
      this.#portions.unshift(missed.slice(Math.max(0, end - missedPortion), end))
    }
    this.#rouse()
  }

  offer(portion: Portion): void {
    if (this.#ending !== null) return
    this.#messages += portion.length
    for (const { activity } of portion) this.#bytes += weightOf(activity)
    const more = this.#isAwaiting ? awaitingFactor : 1
    if (this.#messages > this.#bounds.messages * more || this.#bytes > this.#bounds.bytes * more) {
      this.finish("cut")
    } else {
      this.#portions.push(portion)
      this.#rouse()
    }
  }

  finish(ending: Ending): void {
    if (this.#ending === "cut" || (this.#ending !== null && ending !== "cut")) return
    this.#ending = ending
    if (ending === "cut") {
      this.#portions = []
      this.#cut?.()
    }
    // At once: when the node ends, it gives no more turns.
    this.#wake?.()
  }

  readonly take: Effect.Effect<Told> = Effect.callback((resume) => {
    const taken = this.taken()
    if (taken !== null) return resume(Effect.succeed(taken))
    return Effect.sync(this.await(() => resume(Effect.succeed(this.taken() ?? []))))
  })

  taken(): Told | null {
    if (this.#missed?.isTaken) {
      this.#missed.dealtWith()
      this.#missed = null
    }
    return this.#next()
  }

  await(act: () => void): () => void {
    const wake = (): void => {
      this.#wake = null
      act()
    }
    this.#wake = wake
    return () => {
      if (this.#wake === wake) this.#wake = null
    }
  }

  readonly nudge: Effect.Effect<void> = Effect.sync(() => {
    this.#isNudged = true
    this.#rouse()
  })

  end(ending: Ending): Effect.Effect<void> {
    return Effect.sync(() => this.finish(ending))
  }

  onCut(act: () => void): void {
    this.#cut = act
  }

  #next(): Told | null {
    if (this.#portions.length === 0 && this.#ending !== null) return this.#ending
    if (this.#portions.length === 0 && !this.#isNudged) return null
    const taken = this.#portions
    if (this.#missed !== null && taken.length > 0) this.#missed.isTaken = true
    this.#portions = []
    this.#messages = 0
    this.#bytes = 0
    this.#isNudged = false
    return taken
  }

  #rouse(): void {
    if (this.#isInTurn || this.#wake === null) return
    this.#isInTurn = true
    this.#turns.wait(this.#turn)
  }

  readonly #turn = (): void => {
    this.#isInTurn = false
    this.#wake?.()
  }
}
