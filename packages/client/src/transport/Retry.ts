/** Rules and delays of retries. */
import { WeftError } from "../errors/WeftError.ts"
import { WeftNetworkError } from "../errors/WeftNetworkError.ts"
import type { RetryOptions } from "../RequestOptions.ts"
import { randomFraction } from "./Random.ts"

/** Waits. Rejects with the signal's reason if it is aborted first. */
export const sleep = (millis: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop)
      resolve()
    }, millis)
    signal?.addEventListener("abort", stop, { once: true })
  })

/** Returns the delay after a number of failures, in milliseconds. Random, so that clients do not retry together. */
export const backOff = ({ baseMs, maxMs }: Pick<RetryOptions, "baseMs" | "maxMs">, failures: number): number => {
  const longest = Math.min(maxMs, baseMs * 2 ** (failures - 1))
  return longest * (0.5 + randomFraction() / 2)
}

/** True if the server rejected the request unprocessed, so that every request may be retried. */
const isRateLimited = (error: unknown): error is WeftError =>
  error instanceof WeftError && error.status === 429 && error.code !== "session_limit_exceeded"

/** True if the same request may succeed later. */
export const isTransient = (error: unknown): error is WeftError | WeftNetworkError =>
  error instanceof WeftNetworkError || isRateLimited(error) || (error instanceof WeftError && error.status >= 500)

/** Returns the delay before the retry in milliseconds, or null if the request is not retried. */
export const retryDelay = (
  error: unknown,
  failures: number,
  retry: RetryOptions,
  isRepeatable: boolean
): number | null => {
  if (failures >= retry.attempts || !isTransient(error)) return null
  if (!isRepeatable && !isRateLimited(error)) return null
  const requestedMs = error instanceof WeftError && error.retryAfter !== null ? error.retryAfter * 1000 : 0
  return requestedMs > retry.maxMs ? null : Math.max(requestedMs, backOff(retry, failures))
}
