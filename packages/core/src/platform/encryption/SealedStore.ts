/** All encrypted values of a database, of every kind of record, for the rotation of the master key. */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import type { SealContext } from "./Keyring.ts"
import type { Sealed } from "./Sealed.ts"

export interface SealedValue {
  readonly place: SealContext
  readonly sealed: Sealed
}

export class SealedStore extends Context.Service<
  SealedStore,
  {
    /**
     * Returns at most `limit` values that another key than `keyId` encrypted, after the place `after`, or from the
     * beginning if that is null. The order is up to the store, but stable.
     */
    readonly sealedByOthers: (
      keyId: string,
      page: { readonly after: SealContext | null; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<SealedValue>, StoreUnavailable>
    /** Replaces `old` by `next`. Returns false, and changes nothing, if the stored value is no longer `old`. */
    readonly replace: (old: SealedValue, next: Sealed) => Effect.Effect<boolean, StoreUnavailable>
  }
>()("@weft/core/platform/encryption/SealedStore") {}
