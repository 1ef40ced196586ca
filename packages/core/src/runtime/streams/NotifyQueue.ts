/**
 * Lets the subscribers of a node take their messages a few at a time, with other work in between.
 *
 * A message to 1,000 subscribers takes tens of milliseconds of the main thread. A subscriber that receives more messages
 * before it is called takes them all at once. Each callback runs in a turn of its environment.
 */
import { Effect, Latch, type Scope } from "effect"
import type { EnvId } from "../../foundation/Ids.ts"
import { Turns } from "../../platform/turns/Turns.ts"
import type { WorkScheduler } from "../../platform/turns/WorkScheduler.ts"

/** Callbacks without a pause: less than a millisecond of the main thread. */
const callbacksAtOnce = 32

/** Pause in milliseconds per callback: about a third of the time that one takes. */
const pauseMsEach = 0.008

/** Queue of the callbacks of one environment. */
export interface EnvNotifyQueue {
  /** Queues a callback, which must not throw. Callbacks of an environment run in order. */
  readonly enqueue: (callback: () => void) => void
}

interface QueuedCallback {
  /** Null for a callback that follows all earlier ones, of any environment. */
  readonly envId: EnvId | null
  readonly run: () => void
}

export class NotifyQueue {
  readonly #turns: WorkScheduler
  readonly #hasCallbacks = Latch.makeUnsafe(false)
  /** Open while no callback waits for its turn. */
  readonly #isTurnless = Latch.makeUnsafe(true)
  #callbacks: Array<QueuedCallback> = []
  #next = 0
  #waitingForTurn = 0

  private constructor(turns: WorkScheduler) {
    this.#turns = turns
  }

  static readonly make: Effect.Effect<NotifyQueue, never, Scope.Scope> = Effect.gen(function* () {
    const queue = new NotifyQueue(yield* Turns)
    yield* Effect.forkScoped(queue.#worker)
    return queue
  })

  /** Returns the queue of an environment. */
  of(envId: EnvId): EnvNotifyQueue {
    return { enqueue: (run) => this.#enqueue({ envId, run }) }
  }

  #enqueue(callback: QueuedCallback): void {
    this.#callbacks.push(callback)
    this.#hasCallbacks.openUnsafe()
  }

  /** Resolves when all callbacks that are queued now have run. */
  readonly drained: Effect.Effect<void> = Effect.callback((resume) =>
    this.#enqueue({ envId: null, run: () => resume(Effect.void) })
  )

  readonly #worker: Effect.Effect<never> = Effect.suspend(() => {
    let pauseMs = 0
    const step = Effect.suspend(() => {
      pauseMs += this.#runSome() * pauseMsEach
      if (pauseMs < 1) return Effect.yieldNow
      const pause = pauseMs
      pauseMs = 0
      return Effect.sleep(pause)
    })
    return Effect.forever(Effect.andThen(Effect.andThen(this.#hasCallbacks.await, step), this.#isTurnless.await))
  })

  /** Runs or schedules the next callbacks and returns their number. */
  #runSome(): number {
    const first = this.#next
    const end = Math.min(first + callbacksAtOnce, this.#callbacks.length)
    for (; this.#next < end; this.#next++) {
      const callback = this.#callbacks[this.#next]
      if (callback === undefined) break
      if (callback.envId === null) {
        if (this.#waitingForTurn > 0) return this.#next - first
        callback.run()
      } else {
        this.#runInTurn(callback.envId, callback.run)
      }
    }
    if (this.#next === this.#callbacks.length) {
      this.#callbacks = []
      this.#next = 0
      this.#hasCallbacks.closeUnsafe()
    }
    return end - first
  }

  #runInTurn(envId: EnvId, run: () => void): void {
    this.#waitingForTurn++
    this.#turns.run(envId, "stream", () => {
      run()
      if (--this.#waitingForTurn === 0) this.#isTurnless.openUnsafe()
    })
    if (this.#waitingForTurn > 0) this.#isTurnless.closeUnsafe()
  }
}
