/** Functions that are called by name: in the background, or by a schedule created in code. */
import { type BackgroundTerms, withMeta } from "./Meta.ts"

/** Options of a callable. `event_data` of a call is `{fn, args}`, so paths select parts of its arguments. */
export type CallTerms = Omit<BackgroundTerms<`args.${number}` | `args.${number}.${string}`>, "if">

export interface Callable<Args extends ReadonlyArray<unknown>, Result> {
  (...args: Args): Result
  readonly meta: CallTerms
}

/**
 * Defines a function with options for `svc.call` and `svc.schedules`. It receives only its arguments; `svc` is a
 * global (`@weft/sdk/globals`). Without options, a plain function is enough.
 *
 *     export const charge = callable({ retry: { attempts: 5 }, idempotency: "args.0.id" }, async (order: Order) => …)
 */
export const callable = <Args extends ReadonlyArray<unknown>, Result>(
  terms: CallTerms,
  fn: (...args: Args) => Result
): Callable<Args, Result> => withMeta((...args: Args): Result => fn(...args), terms)
