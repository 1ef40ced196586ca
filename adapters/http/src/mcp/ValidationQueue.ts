/**
 * Queue for the one thread that validates arguments. At most one validation of each environment waits for the thread, so
 * that no environment delays another by more than one validation. An environment has any number of tools: after two
 * timeouts, all its validations are suspended for five minutes.
 */
import type { EnvId } from "@weft/core"
import { Clock, Effect, Semaphore } from "effect"

/** Maximum time in the queue, in milliseconds. */
const queueTimeoutMs = 2000

/** Timeouts after which an environment is suspended, and the duration of a suspension in milliseconds. */
const timeoutsMax = 2
const suspensionMs = 5 * 60_000

/** Maximum environments whose timeouts are counted. Beyond it, the one with the oldest last timeout is removed. */
const trackedEnvsMax = 10_000

/** Messages for callers of tools. */
export const validationUnavailable = "the arguments cannot be checked now: try again later"
const envSuspended = "input schemas of the environment take too long to check: try again in 5 minutes"

interface Timeouts {
  readonly count: number
  /** Time of the last timeout, in epoch milliseconds. */
  readonly lastAt: number
}

/** The validations of one environment. */
interface EnvQueue {
  /** Held by the validation that waits for the thread or uses it. */
  readonly mutex: Semaphore.Semaphore
  length: number
}

/** Yields a description of the fault for the caller of a tool, or null for valid arguments. */
export type Validation = Effect.Effect<string | null>

export class ValidationQueue {
  readonly #thread = Semaphore.makeUnsafe(1)
  readonly #envQueues = new Map<EnvId, EnvQueue>()
  readonly #timeouts = new Map<EnvId, Timeouts>()

  /** Runs `validation` when the thread is free, or returns why it cannot run. A started validation is not interrupted. */
  run(envId: EnvId, validation: Validation): Validation {
    return Effect.suspend(() => {
      let hasStarted = false
      const started = Effect.suspend(() => {
        hasStarted = true
        return this.#unlessSuspended(envId, validation)
      })
      const result = this.#inEnvOrder(envId, this.#thread.withPermit(Effect.uninterruptible(started)))
      const queueTimeout = Effect.flatMap(Effect.sleep(queueTimeoutMs), () =>
        hasStarted ? Effect.never : Effect.succeed(validationUnavailable)
      )
      return this.#unlessSuspended(envId, Effect.raceFirst(result, queueTimeout))
    })
  }

  /** Counts a validation of the environment that timed out. */
  recordTimeout(envId: EnvId): Effect.Effect<void> {
    return Effect.map(Clock.currentTimeMillis, (now) => {
      const count = this.#timeoutCount(envId, now) + 1
      this.#timeouts.delete(envId)
      const [oldest] = this.#timeouts.keys()
      if (this.#timeouts.size >= trackedEnvsMax && oldest !== undefined) this.#timeouts.delete(oldest)
      this.#timeouts.set(envId, { count, lastAt: now })
    })
  }

  /** Runs validations of an environment one after another. */
  #inEnvOrder(envId: EnvId, validation: Validation): Validation {
    return Effect.acquireUseRelease(
      Effect.sync(() => {
        const queue = this.#envQueues.get(envId) ?? { mutex: Semaphore.makeUnsafe(1), length: 0 }
        queue.length++
        this.#envQueues.set(envId, queue)
        return queue
      }),
      ({ mutex }) => mutex.withPermit(validation),
      (queue) =>
        Effect.sync(() => {
          queue.length--
          if (queue.length === 0) this.#envQueues.delete(envId)
        })
    )
  }

  #unlessSuspended(envId: EnvId, validation: Validation): Validation {
    return Effect.flatMap(Clock.currentTimeMillis, (now) =>
      this.#timeoutCount(envId, now) < timeoutsMax ? validation : Effect.succeed(envSuspended)
    )
  }

  #timeoutCount(envId: EnvId, now: number): number {
    const timeouts = this.#timeouts.get(envId)
    return timeouts === undefined || now - timeouts.lastAt >= suspensionMs ? 0 : timeouts.count
  }
}
