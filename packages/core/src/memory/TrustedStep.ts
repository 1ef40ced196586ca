/** One attempt at a step of a trusted durable function, by the same rules as in an isolate. */
import type { Schema } from "effect"
import { parseDuration } from "../foundation/time/Duration.ts"
import { readRetryHint } from "./TrustedRetryHint.ts"

// Every runtime has them, but TypeScript declares them only with a platform's types.
interface AbortControllerLike {
  readonly signal: unknown
  readonly abort: (reason: unknown) => void
}
declare const AbortController: new () => AbortControllerLike

/** The argument of the body of a step. */
export class StepContext {
  readonly attempt: number
  readonly idempotencyKey: string
  readonly signal: unknown
  readonly #controller = new AbortController()

  constructor(attempt: number, idempotencyKey: string) {
    this.attempt = attempt
    this.idempotencyKey = idempotencyKey
    this.signal = this.#controller.signal
  }

  static readonly abort = (context: StepContext, reason: unknown): void => context.#controller.abort(reason)
}

export type StepBody<A> = (context: StepContext) => A | Promise<A>

export interface TrustedStepOptions<A> {
  readonly retry?: Schema.Json
  readonly timeout?: Schema.Json
  readonly compensate?: (result: A, context: StepContext) => unknown
}

interface StepHost {
  /** Resolves after the time. */
  readonly sleep: (ms: number) => Promise<void>
  /** Returns the time in milliseconds since 1970. */
  readonly time: () => number
}

/** The end of an attempt: the result or error as JSON text, and further fields of its report. */
interface Attempt {
  readonly ok: boolean
  readonly text: string
  readonly fields: Readonly<Record<string, unknown>>
}

export const attemptStep = async <A>(
  name: string,
  body: StepBody<A>,
  context: StepContext,
  { retry, timeout }: TrustedStepOptions<A>,
  host: StepHost
): Promise<Attempt> => {
  const policy = retry === undefined ? {} : { retry }
  try {
    const value = await withTimeout(name, Promise.resolve(body(context)), context, timeout, host)
    return { ok: true, text: JSON.stringify(value) ?? "", fields: policy }
  } catch (error) {
    const { final, after_ms } = readRetryHint(error, host.time())
    const { name: errorName, message, stack = "" } = error instanceof Error ? error : new Error(String(error))
    const text = JSON.stringify({ name: errorName, message, stack })
    const after = after_ms === null ? {} : { after: after_ms }
    return { ok: false, text, fields: { ...(final ? { retry: { attempts: 1 } } : policy), ...after } }
  }
}

const withTimeout = async <A>(
  name: string,
  running: Promise<A>,
  context: StepContext,
  timeout: Schema.Json | undefined,
  { sleep }: StepHost
): Promise<A> => {
  if (timeout === undefined) return running
  const ms = parseDuration(timeout)
  if (ms === null) throw new TypeError('svc.step: timeout must be a duration such as "30s", at most 1 hour')
  const expired = sleep(ms).then(() => {
    const message = `the step "${name}" took longer than its timeout of ${ms} ms`
    throw Object.assign(new Error(message), { name: "StepTimeout" })
  })
  try {
    return await Promise.race([running, expired])
  } catch (error) {
    StepContext.abort(context, error)
    throw error
  }
}
