/** Retry policy of a handler (decisions 5.1 and 5.4). Pure: the random number is an argument. */
import { Schema } from "effect"

export const RetryPolicy = Schema.Struct({
  /** Maximum attempts including the first; 1 to 100. */
  attempts: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })),
  delay_ms: Schema.Number,
  backoff: Schema.Number,
  max_delay_ms: Schema.Number,
  jitter: Schema.Boolean
})
export type RetryPolicy = typeof RetryPolicy.Type

export const noRetry: RetryPolicy = { attempts: 1, delay_ms: 1000, backoff: 2, max_delay_ms: 3_600_000, jitter: true }

/**
 * Returns the milliseconds between the end of `attempt` (from 1) and the next attempt: `delay * backoff^(attempt-1)`, at
 * most `max_delay_ms`. Full jitter multiplies it by `draw`, a uniform random number in [0, 1).
 */
export const retryDelayMs = (policy: RetryPolicy, attempt: number, draw: number): number => {
  const full = Math.min(policy.max_delay_ms, policy.delay_ms * policy.backoff ** (attempt - 1))
  return policy.jitter ? full * draw : full
}
