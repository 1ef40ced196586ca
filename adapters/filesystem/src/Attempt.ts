/** Turns failures of the file system into `StoreUnavailable`. */
import { StoreUnavailable } from "@weft/core"
import { Effect } from "effect"

export const attempt = <A>(operation: string, run: () => Promise<A>): Effect.Effect<A, StoreUnavailable> =>
  Effect.tryPromise({ try: run, catch: (cause) => new StoreUnavailable({ operation, cause }) })
