/**
 * The queue of one subscriber to a channel, with bounds.
 *
 * A subscriber that takes its messages too slowly is disconnected, so that it neither fills memory nor delays others.
 */
import { Effect } from "effect"
import { activityBytes } from "../runs/Activity.ts"
import type { Message, Position } from "./Message.ts"
import type { EnvNotifyQueue } from "./NotifyQueue.ts"

/** Reason why a subscription ended: its time limit, the shutdown of the host, or a full queue (`cut`). */
export type EndReason = "expired" | "closed" | "cut"

export interface Subscription {
  /** Position at which it began. A later subscription after this position receives the same messages again. */
  readonly begin: Position
  /**
   * Waits for messages and returns those since the last call, in order, in the batches in which they arrived. Returns no
   * batch after `wake`, and the reason of the end once all messages were taken. Call it again only when it has returned
   * and its messages were sent: the call frees their memory.
   */
  readonly take: Effect.Effect<TakeResult>
  /** Returns what `take` would return at once, or null if it would wait. */
  readonly takeNow: () => TakeResult | null
  /** Calls back once, when `takeNow`, which has returned null, has something. Returns a function that cancels this. */
  readonly onceReady: (callback: () => void) => () => void
  /** Makes a waiting `take` return. */
  readonly wake: Effect.Effect<void>
  /** Ends the subscription. `cut` also drops the messages that were not taken yet. */
  readonly end: (reason: EndReason) => Effect.Effect<void>
  /** Calls back when the subscription is cut, for a consumer that is blocked on a send. Not if it was cut before. */
  readonly onCut: (callback: () => void) => void
}

export type TakeResult = ReadonlyArray<MessageBatch> | EndReason

/** Messages that arrived together. Subscribers to the whole environment share the same arrays. */
export type MessageBatch = ReadonlyArray<Message>

export interface QueueBounds {
  readonly messages: number
  readonly bytes: number
}

/** Missed messages per batch. Those that were sent are freed before the rest. */
const missedBatchSize = 256

/** Factor of the queue's bounds during a catch-up, when the subscriber cannot take messages. */
const catchUpFactor = 20

export class Subscriber implements Subscription {
  readonly begin: Position
  readonly #bounds: QueueBounds
  readonly #notifyQueue: EnvNotifyQueue
  #batches: Array<MessageBatch> = []
  #messages = 0
  #bytes = 0
  #isWoken = false
  #isCatchingUp = false
  #missed: { isTaken: boolean; readonly release: () => void } | null = null
  #endReason: EndReason | null = null
  #notify: (() => void) | null = null
  #isEnqueued = false
  #onCut: (() => void) | null = null

  constructor(begin: Position, bounds: QueueBounds, notifyQueue: EnvNotifyQueue) {
    this.begin = begin
    this.#bounds = bounds
    this.#notifyQueue = notifyQueue
  }

  get hasEnded(): boolean {
    return this.#endReason !== null
  }

  /** Messages that were not taken yet. */
  get queued(): ReadonlyArray<Message> {
    return this.#batches.flat()
  }

  /** Begins a catch-up: until `prepend`, the queue has larger bounds. */
  beginCatchUp(): void {
    this.#isCatchingUp = true
  }

  /** Puts missed messages before the queued ones. Neither count towards the bounds. Calls `release` once they were sent. */
  prepend(missed: MessageBatch, release: () => void): void {
    this.#isCatchingUp = false
    this.#messages = 0
    this.#bytes = 0
    if (missed.length === 0 || this.#endReason === "cut") {
      release()
      return
    }
    this.#missed = { isTaken: false, release }
    for (let end = missed.length; end > 0; end -= missedBatchSize) {
      this.#batches.unshift(missed.slice(Math.max(0, end - missedBatchSize), end))
    }
    this.#enqueue()
  }

  offer(batch: MessageBatch): void {
    if (this.#endReason !== null) return
    this.#messages += batch.length
    for (const { activity } of batch) this.#bytes += activityBytes(activity)
    const factor = this.#isCatchingUp ? catchUpFactor : 1
    if (this.#messages > this.#bounds.messages * factor || this.#bytes > this.#bounds.bytes * factor) {
      this.finish("cut")
    } else {
      this.#batches.push(batch)
      this.#enqueue()
    }
  }

  finish(reason: EndReason): void {
    if (this.#endReason === "cut" || (this.#endReason !== null && reason !== "cut")) return
    this.#endReason = reason
    if (reason === "cut") {
      this.#batches = []
      this.#onCut?.()
    }
    // Not by the notify queue, which stops before the subscriptions when the node shuts down.
    this.#notify?.()
  }

  readonly take: Effect.Effect<TakeResult> = Effect.callback((resume) => {
    const taken = this.takeNow()
    if (taken !== null) return resume(Effect.succeed(taken))
    return Effect.sync(this.onceReady(() => resume(Effect.succeed(this.takeNow() ?? []))))
  })

  takeNow(): TakeResult | null {
    if (this.#missed?.isTaken) {
      this.#missed.release()
      this.#missed = null
    }
    return this.#next()
  }

  onceReady(callback: () => void): () => void {
    const notify = (): void => {
      this.#notify = null
      callback()
    }
    this.#notify = notify
    return () => {
      if (this.#notify === notify) this.#notify = null
    }
  }

  readonly wake: Effect.Effect<void> = Effect.sync(() => {
    this.#isWoken = true
    this.#enqueue()
  })

  end(reason: EndReason): Effect.Effect<void> {
    return Effect.sync(() => this.finish(reason))
  }

  onCut(callback: () => void): void {
    this.#onCut = callback
  }

  #next(): TakeResult | null {
    if (this.#batches.length === 0 && this.#endReason !== null) return this.#endReason
    if (this.#batches.length === 0 && !this.#isWoken) return null
    const taken = this.#batches
    if (this.#missed !== null && taken.length > 0) this.#missed.isTaken = true
    this.#batches = []
    this.#messages = 0
    this.#bytes = 0
    this.#isWoken = false
    return taken
  }

  #enqueue(): void {
    if (this.#isEnqueued || this.#notify === null) return
    this.#isEnqueued = true
    this.#notifyQueue.enqueue(this.#runNotify)
  }

  readonly #runNotify = (): void => {
    this.#isEnqueued = false
    this.#notify?.()
  }
}
