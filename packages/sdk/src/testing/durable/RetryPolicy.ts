/** Retry policies of steps: the same rules and messages as in the runtime. */
import { parseDuration } from "./Duration.ts"

export interface RetryPolicy {
  /** Maximum attempts including the first. */
  readonly attempts: number
  readonly delayMs: number
  readonly backoff: number
  readonly maxDelayMs: number
}

export const noRetry: RetryPolicy = { attempts: 1, delayMs: 1000, backoff: 2, maxDelayMs: 3_600_000 }

/** Maximum delay in milliseconds: 365 days. */
const delayMax = 365 * 24 * 3_600_000

const names: ReadonlyArray<string> = ["attempts", "delay", "backoff", "max_delay", "jitter"]

/** Returns the policy; throws a `TypeError` that names the invalid field. */
export const readRetry = (given: unknown): RetryPolicy => {
  if (typeof given !== "object" || given === null || Array.isArray(given)) throw fault("retry must be an object")
  const fields = new Map<string, unknown>(Object.entries(given))
  const unknown = [...fields.keys()].find((name) => !names.includes(name))
  if (unknown !== undefined) throw fault(`retry.${unknown} is not a known key`)
  const read = <A>(name: string, fallback: A, parse: (field: string, value: unknown) => A): A => {
    const value = fields.get(name)
    return value === undefined ? fallback : parse(`retry.${name}`, value)
  }
  const policy = {
    attempts: read("attempts", noRetry.attempts, (field, value) => {
      if (!Number.isInteger(value)) throw fault(`${field} must be an integer from 1 to 100`)
      return readNumber(field, value, 1, 100)
    }),
    delayMs: read("delay", noRetry.delayMs, readDelay),
    backoff: read("backoff", noRetry.backoff, (field, value) => readNumber(field, value, 1, 1000)),
    maxDelayMs: read("max_delay", noRetry.maxDelayMs, readDelay)
  }
  read("jitter", true, (field, value) => {
    if (typeof value === "boolean") return value
    throw fault(`${field} must be true or false`)
  })
  return policy
}

/**
 * Returns the milliseconds between the end of `attempt` (from 1) and the next one. With jitter, the runtime waits a random
 * time up to it.
 */
export const retryDelayMs = ({ delayMs, backoff, maxDelayMs }: RetryPolicy, attempt: number): number =>
  Math.min(maxDelayMs, delayMs * backoff ** (attempt - 1))

const fault = (reason: string): TypeError => new TypeError(`svc.step: ${reason}`)

const readNumber = (field: string, value: unknown, min: number, max: number): number => {
  if (typeof value === "number" && value >= min && value <= max) return value
  throw fault(`${field} must be a number from ${min} to ${max}`)
}

const readDelay = (field: string, value: unknown): number => {
  const ms = parseDuration(value)
  if (ms === null) {
    throw fault(`${field} must be a duration: "500ms", "1s", "1m", "1h", "1d", ISO 8601 or a number of milliseconds`)
  }
  const whole = Math.round(ms)
  if (whole <= delayMax) return whole
  throw fault(`${field} must be from 0 ms to ${delayMax} ms`)
}
