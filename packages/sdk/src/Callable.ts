/** Functions that are called by their name, in the background or by a schedule made in code. */
import { type BackgroundTerms, withMeta } from "./Meta.ts"

/** `event_data` of a call is `{fn, args}`: paths lead to parts of its arguments. */
export type CallTerms = BackgroundTerms<`args.${number}` | `args.${number}.${string}`>

export interface Callable<Args extends ReadonlyArray<unknown>, Result> {
  (...args: Args): Result
  readonly meta: CallTerms
}

/**
 * A function with terms of its own for `svc.call` and `svc.schedules`. It gets just its arguments, and finds `svc` as a
 * global (`@weft/sdk/globals`). Without terms a plain function is enough.
 *
 *     export const charge = callable({ retry: { attempts: 5 }, idempotency: "args.0.id" }, async (order: Order) => …)
 */
export const callable = <Args extends ReadonlyArray<unknown>, Result>(
  terms: CallTerms,
  fn: (...args: Args) => Result
): Callable<Args, Result> => withMeta((...args: Args): Result => fn(...args), terms)
