/** Errors that decide about further attempts: at a run, and at a step of a durable function. */
import type { Duration } from "./Meta.ts"

/**
 * No further attempt follows an error of this name, for example if a card was declined:
 *
 *     throw new NonRetryable("The card was declined", { cause: error })
 *
 * An error of another class has the same effect with `nonRetryable: true`.
 */
export class NonRetryable extends Error {
  override readonly name = "NonRetryable"
  readonly nonRetryable = true
}

/**
 * The next attempt follows after a delay, or at a time, instead of the delay of the policy. Its number of attempts applies.
 *
 *     if (response.status === 429) throw RetryAfter.from(response)
 *
 * An error of another class has the same effect with a property `retryAfter`.
 */
export class RetryAfter extends Error {
  override readonly name = "RetryAfter"
  /** Milliseconds, a duration such as `"2m"`, or the time. */
  readonly retryAfter: Duration | Date | undefined

  constructor(
    retryAfter: Duration | Date | undefined,
    message = "The run asks to be retried later",
    options?: ErrorOptions
  ) {
    super(message, options)
    this.retryAfter = retryAfter
  }

  /** Returns the error of a response, such as 429 or 503, with the time of its header `retry-after`, if it has one. */
  static from(response: {
    readonly status: number
    readonly headers: { readonly get: (name: string) => string | null }
  }): RetryAfter {
    const text = response.headers.get("retry-after")?.trim() ?? ""
    const at = /^\d+$/.test(text) ? Number(text) * 1000 : new Date(text)
    const isTime = typeof at === "number" || !Number.isNaN(at.getTime())
    return new RetryAfter(isTime ? at : undefined, `The server answered ${response.status}`)
  }
}
