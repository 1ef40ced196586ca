/**
 * Rotation of the master key: re-encrypts everything that a former key encrypted.
 *
 * No progress is stored. Values with another key's id are read in batches, and each is replaced only if it did not
 * change meanwhile. So a rotation may be stopped at any time and repeated, even on several nodes at once.
 */
import { Context, Effect, Layer } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import { Keyring, type SealContext } from "./Keyring.ts"
import { SealedStore, type SealedValue } from "./SealedStore.ts"

/** Maximum values per query. */
const batch = 100

export interface RotatedSecrets {
  /** Id of the current key. */
  readonly key_id: string
  /** Number of values that this call re-encrypted. */
  readonly resealed: number
  /** Number of values that no key of this server can decrypt. If 0, former keys are no longer needed. */
  readonly unreadable: number
}

export class KeyRotation extends Context.Service<
  KeyRotation,
  {
    /** Repeats until only unreadable values remain, and logs the place of each. */
    readonly rotateKeys: Effect.Effect<RotatedSecrets, StoreUnavailable>
  }
>()("@weft/core/platform/encryption/KeyRotation") {
  static readonly layer: Layer.Layer<KeyRotation, never, SealedStore | Keyring> = Layer.effect(
    KeyRotation,
    Effect.gen(function* () {
      const store = yield* SealedStore
      const keyring = yield* Keyring

      const reencrypt = Effect.fnUntraced(function* (old: SealedValue) {
        const text = yield* keyring.open(old.sealed, old.place)
        return (yield* store.replace(old, yield* keyring.seal(text, old.place))) ? "resealed" : "changed"
      })

      /** Makes one pass over all values. */
      const pass = Effect.gen(function* () {
        const count = { resealed: 0, changed: 0, unreadable: 0 }
        let after: SealContext | null = null
        for (;;) {
          const values: ReadonlyArray<SealedValue> = yield* store.sealedByOthers(keyring.keyId, { after, limit: batch })
          for (const value of values) {
            const result = yield* Effect.catchTag(reencrypt(value), "CannotOpen", (error) =>
              Effect.as(Effect.logWarning("A secret cannot be re-encrypted:", error.message), "unreadable" as const)
            )
            count[result]++
          }
          after = values.at(-1)?.place ?? null
          if (after === null) return count
        }
      })

      return KeyRotation.of({
        rotateKeys: Effect.gen(function* () {
          let resealed = 0
          for (;;) {
            const found = yield* pass
            resealed += found.resealed
            // Another node may have encrypted with the former key behind this pass, so another pass checks.
            if (found.resealed + found.changed === 0) {
              return { key_id: keyring.keyId, resealed, unreadable: found.unreadable }
            }
          }
        })
      })
    })
  )
}
