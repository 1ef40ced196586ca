/**
 * Check of the master keys at start. With another key over existing data, functions would run without their secrets.
 * New secrets of a second key would then make the mistake hard to repair.
 */
import { Effect, Layer, Schema } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import { Keyring } from "./Keyring.ts"
import { keyIdOf } from "./Sealed.ts"
import { SealedStore, type SealedValue } from "./SealedStore.ts"

/** Stored secrets need a master key that is not configured. Reported to the operator at start. Key ids are not secret. */
export class MasterKeyMissing extends Schema.TaggedError<MasterKeyMissing>()("MasterKeyMissing", {
  /** Id of the current master key. */
  current_id: Schema.String,
  /** Id of the master key that encrypted the stored secrets. */
  missing_id: Schema.String
}) {
  override get message(): string {
    return `Stored secrets need the master key with the id ${this.missing_id}, but the current one has the id ${this.current_id}. Add the former key to \`masterKeys\`, or its id to \`lostMasterKeys\` if it is lost`
  }
}

/** Maximum values per query, and queries of one check. */
const batch = 100
const queriesMax = 10

/**
 * Fails if a stored value needs a master key that is neither configured nor among the ids of lost keys. Reads at most
 * 1,000 values of other keys than the current one, so a rotation in progress does not delay the start.
 */
export const keyCheckLayer = (
  lostIds: ReadonlyArray<string> = []
): Layer.Layer<never, MasterKeyMissing | StoreUnavailable, SealedStore | Keyring> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const store = yield* SealedStore
      const { keyId, keyIds } = yield* Keyring
      let after: SealedValue["place"] | null = null
      for (let query = 0; query < queriesMax; query++) {
        const values: ReadonlyArray<SealedValue> = yield* store.sealedByOthers(keyId, { after, limit: batch })
        const missing = values
          .map(({ sealed }) => keyIdOf(sealed))
          .find((id) => !keyIds.has(id) && !lostIds.includes(id))
        if (missing !== undefined) return yield* new MasterKeyMissing({ current_id: keyId, missing_id: missing })
        if (values.length < batch) return
        after = values.at(-1)?.place ?? null
      }
    })
  )
