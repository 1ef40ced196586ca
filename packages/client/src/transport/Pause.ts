/** Waiting before something is tried again. */
import { WeftError } from "../errors/WeftError.ts"
import { WeftNetworkError } from "../errors/WeftNetworkError.ts"
import type { RetryOptions } from "../RequestOptions.ts"
import { randomFraction } from "./Key.ts"

/** Rejects with the signal's reason when it is aborted before the time is over. */
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

/** Milliseconds before the repetition after `failures` failures in a row; random, so that clients spread. */
export const backOff = ({ baseMs, maxMs }: Pick<RetryOptions, "baseMs" | "maxMs">, failures: number): number => {
  const longest = Math.min(maxMs, baseMs * 2 ** (failures - 1))
  return longest * (0.5 + randomFraction() / 2)
}

/** The request was not looked at: it may be sent again, whatever it asks for. */
const isTurnedAway = (error: unknown): error is WeftError =>
  error instanceof WeftError && error.status === 429 && error.code !== "session_limit_exceeded"

/** Whether the same request may well succeed later. */
export const isPassing = (error: unknown): error is WeftError | WeftNetworkError =>
  error instanceof WeftNetworkError || isTurnedAway(error) || (error instanceof WeftError && error.status >= 500)

/** Milliseconds to wait before the repetition; null if there is to be none. */
export const pauseAfter = (
  error: unknown,
  failures: number,
  retry: RetryOptions,
  isRepeatable: boolean
): number | null => {
  if (failures >= retry.attempts || !isPassing(error)) return null
  if (!isRepeatable && !isTurnedAway(error)) return null
  const asked = error instanceof WeftError && error.retryAfter !== null ? error.retryAfter * 1000 : 0
  return asked > retry.maxMs ? null : Math.max(asked, backOff(retry, failures))
}
