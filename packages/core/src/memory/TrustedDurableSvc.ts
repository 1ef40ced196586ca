/** The face of `svc` that a trusted durable function sees. */
import type { Schema } from "effect"
import type { StepBody, StepContext, TrustedStepOptions } from "./TrustedStep.ts"

/** A token as the function receives it. */
export interface TrustedToken {
  readonly url: string
  readonly token: string
  readonly id: string
}

/** The methods of `svc` of a durable function. */
export interface TrustedDurableSvc {
  readonly step: <A>(name: string, body: StepBody<A>, options?: TrustedStepOptions<A>) => Promise<A>
  readonly all: <A, B>(
    items: ReadonlyArray<A>,
    fn: (item: A, index: number) => B | Promise<B>,
    options?: { readonly concurrency?: number }
  ) => Promise<ReadonlyArray<B>>
  readonly saga: () => TrustedSaga
  readonly sleep: (name: string, duration: Schema.Json) => Promise<unknown>
  readonly sleepUntil: (name: string, time: Date | Schema.Json) => Promise<unknown>
  readonly waitForEvent: (name: string, wait: Readonly<Record<string, unknown>>) => Promise<unknown>
  /** Starts a child run and waits for its result. */
  readonly invoke: (
    fn: string,
    args?: unknown,
    options?: { readonly name?: string; readonly timeout?: Schema.Json }
  ) => Promise<unknown>
  /** Calls a function in the background, once. */
  readonly call: (fn: string, args?: unknown) => Promise<{ readonly event_id: string; readonly stream_id: string }>
  readonly version: (id: string, max: number) => Promise<number>
  readonly continueAsNew: (args?: unknown) => Promise<never>
  readonly createToken: (name: string, options?: { readonly timeout?: Schema.Json }) => Promise<TrustedToken>
  readonly waitForToken: (token: string | TrustedToken) => Promise<unknown>
  readonly now: () => number
}

export interface TrustedSaga {
  readonly step: <A>(
    name: string,
    body: StepBody<A>,
    undo: (result: A, context: StepContext) => unknown,
    options?: TrustedStepOptions<A>
  ) => Promise<A>
}
