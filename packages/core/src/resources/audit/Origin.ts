/** The request that caused an action. The HTTP layer provides it for the whole request. */
import { Context } from "effect"

export interface Origin {
  /** UUID of the request; empty without a request. */
  readonly id: string
  /** Returns the client's address, or null if it is unknown. A function, because it is rarely needed. */
  readonly address: () => string | null
  /** True if the request has the host's admin token. */
  readonly isAdmin: boolean
}

/** A reference, so that code can read the id of the request without requiring a service. */
export const CurrentOrigin = Context.Reference<Origin>("@weft/core/resources/audit/CurrentOrigin", {
  defaultValue: () => ({ id: "", address: () => null, isAdmin: false })
})
