/** Rotation of the master key, with an entry in the audit log for each time that it came to an end. */
import { Effect, Layer } from "effect"
import type { SecureRandom } from "effect/crypto"
import { Resealing } from "../encryption/Resealing.ts"
import { makeEntries } from "./AuditFacts.ts"
import { AuditStore } from "./AuditStore.ts"

export const auditedResealing: Layer.Layer<Resealing, never, Resealing | AuditStore | SecureRandom.SecureRandom> =
  Layer.effect(
    Resealing,
    Effect.gen(function* () {
      const { reseal, opensOthers } = yield* Resealing
      const audit = yield* AuditStore
      const entries = yield* makeEntries
      return Resealing.of({
        opensOthers,
        // Many transactions: the entry is of none of them, and without it the whole counts as failed.
        reseal: Effect.tap(reseal, (result) =>
          Effect.flatMap(entries, (entryOf) =>
            audit.append([entryOf({ action: "secrets.reseal", env_id: null, details: { ...result } })])
          )
        )
      })
    })
  )
