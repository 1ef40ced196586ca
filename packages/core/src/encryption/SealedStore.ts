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
    /**
     * Values that another key than `keyId` sealed, at most `limit`: the next after the place `after` in the order of
     * the store, which is any, but always the same; from its beginning when that is null.
     */
    readonly sealedByOthers: (
      keyId: string,
      page: { readonly after: Place | null; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<SealedValue>, StoreUnavailable>
    /** Puts `next` where `old` is. False, and nothing changes, when something else is there by now. */
    readonly replace: (old: SealedValue, next: Sealed) => Effect.Effect<boolean, StoreUnavailable>
  }
>()("@weft/core/encryption/SealedStore") {}
