/** Rotation of the master key, with an audit entry for each completed rotation. */
import { Effect, Layer } from "effect"
import type { SecureRandom } from "effect/crypto"
import { KeyRotation } from "../../platform/encryption/KeyRotation.ts"
import { makeEntries } from "./AuditFacts.ts"
import { AuditStore } from "./AuditStore.ts"

export const auditedKeyRotation: Layer.Layer<KeyRotation, never, KeyRotation | AuditStore | SecureRandom.SecureRandom> =
  Layer.effect(
    KeyRotation,
    Effect.gen(function* () {
      const { rotateKeys } = yield* KeyRotation
      const audit = yield* AuditStore
      const entries = yield* makeEntries
      return KeyRotation.of({
        // The rotation has many transactions, so the entry follows in a separate one. If it fails, so does the rotation.
        rotateKeys: Effect.tap(rotateKeys, (result) =>
          Effect.flatMap(entries, (toEntry) =>
            audit.append([toEntry({ action: "secrets.reseal", env_id: null, details: { ...result } })])
          )
        )
      })
    })
  )
