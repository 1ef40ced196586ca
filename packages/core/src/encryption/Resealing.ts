/**
 * Rotation of the master key: seals everything anew that a former key sealed.
 *
 * Nothing is noted down: what still bears another key's id is taken, batch by batch, and replaced only where it did
 * not change meanwhile. So it may be stopped at any moment and run again, also on several nodes at once.
 */
import { Context, Effect, Layer } from "effect"
import type { StoreUnavailable } from "../errors/Errors.ts"
import { Keyring, type Place } from "./Keyring.ts"
import { SealedStore, type SealedValue } from "./SealedStore.ts"

/** How many values are read with one query. */
const batch = 100

export interface Resealed {
  /** The id of the key that seals. */
  readonly key_id: string
  /** How many values this call sealed anew. */
  readonly resealed: number
  /** How many are left because no key of this server opens them. When 0, former keys are no longer needed. */
  readonly unreadable: number
}

export class Resealing extends Context.Service<
  Resealing,
  {
    /** Goes on until all that is left does not open; the log says which places those are. */
    readonly reseal: Effect.Effect<Resealed, StoreUnavailable>
    /** Whether a key of this server opens what others sealed, as far as one value tells. True where there is none. */
    readonly opensOthers: Effect.Effect<boolean, StoreUnavailable>
  }
>()("@weft/core/encryption/Resealing") {
  static readonly layer: Layer.Layer<Resealing, never, SealedStore | Keyring> = Layer.effect(
    Resealing,
    Effect.gen(function* () {
      const store = yield* SealedStore
      const keyring = yield* Keyring

      const resealOne = Effect.fnUntraced(function* (old: SealedValue) {
        const text = yield* keyring.open(old.sealed, old.place)
        return (yield* store.replace(old, yield* keyring.seal(text, old.place))) ? "resealed" : "changed"
      })

      /** Once through everything. */
      const pass = Effect.gen(function* () {
        const count = { resealed: 0, changed: 0, unreadable: 0 }
        let after: Place | null = null
        for (;;) {
          const values: ReadonlyArray<SealedValue> = yield* store.sealedByOthers(keyring.keyId, { after, limit: batch })
          for (const value of values) {
            const what = yield* Effect.catchTag(resealOne(value), "CannotOpen", (error) =>
              Effect.as(Effect.logWarning("A secret stays under another key:", error.message), "unreadable" as const)
            )
            count[what]++
          }
          after = values.at(-1)?.place ?? null
          if (after === null) return count
        }
      })

      return Resealing.of({
        opensOthers: Effect.gen(function* () {
          const [value] = yield* store.sealedByOthers(keyring.keyId, { after: null, limit: 1 })
          if (value === undefined) return true
          return yield* Effect.match(keyring.open(value.sealed, value.place), {
            onFailure: () => false,
            onSuccess: () => true
          })
        }),

        reseal: Effect.gen(function* () {
          let resealed = 0
          for (;;) {
            const found = yield* pass
            resealed += found.resealed
            // Another node may have sealed with the former key behind this pass, so one more looks whether all is done.
            if (found.resealed + found.changed === 0) {
              return { key_id: keyring.keyId, resealed, unreadable: found.unreadable }
            }
          }
        })
      })
    })
  )
}
