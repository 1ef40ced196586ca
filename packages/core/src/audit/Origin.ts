/** Where an action comes from: the request that is being answered. Set by the HTTP layer, around everything. */
import { Context } from "effect"

export interface Origin {
  /** UUID; empty where there is no request. */
  readonly id: string
  /** The client's address; null where it is not known. Worked out only when asked for. */
  readonly address: () => string | null
  /** Whether the request bears the host's admin token. */
  readonly isAdmin: boolean
}

/** A reference, so that whatever runs for a request can tell its id without a service in its type. */
export const CurrentOrigin = Context.Reference<Origin>("@weft/core/audit/CurrentOrigin", {
  defaultValue: () => ({ id: "", address: () => null, isAdmin: false })
})
