/** All sealed values of a database, whatever record they belong to: what rotating the master key needs. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../errors/Errors.ts"
import type { Place } from "./Keyring.ts"
import type { Sealed } from "./Sealed.ts"

export interface SealedValue {
  readonly place: Place
  readonly sealed: Sealed
}

export class SealedStore extends Context.Service<
  SealedStore,
  {
    /** Values that another key than `keyId` sealed, in any order, at most `limit`. */
    readonly sealedByOthers: (
      keyId: string,
      limit: number
    ) => Effect.Effect<ReadonlyArray<SealedValue>, StoreUnavailable>
    /** Puts `next` where `old` is. False, and nothing changes, when something else is there by now. */
    readonly replace: (old: SealedValue, next: Sealed) => Effect.Effect<boolean, StoreUnavailable>
  }
>()("@weft/core/encryption/SealedStore") {}
