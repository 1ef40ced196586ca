/** Quarantines of builds, with an audit entry for each release that a caller requests. */
import { Effect, Layer } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { Build } from "../builds/Build.ts"
import { Quarantines } from "../builds/Quarantines.ts"
import { makeEntries } from "./AuditFacts.ts"
import { AuditStore } from "./AuditStore.ts"

export const auditedQuarantines: Layer.Layer<Quarantines, never, Quarantines | AuditStore | SecureRandom.SecureRandom> =
  Layer.effect(
    Quarantines,
    Effect.gen(function* () {
      const { clear } = yield* Quarantines
      const audit = yield* AuditStore
      const entries = yield* makeEntries
      /** The entry is first, because a release without an entry must not happen. */
      const release = Effect.fnUntraced(function* ({ build_id, env_id, project_id, hash }: Build) {
        const toEntry = yield* entries
        const details = { project_id, hash }
        yield* audit.append([toEntry({ action: "build.release", env_id, object_id: build_id, details })])
        yield* clear(build_id)
      }, Effect.uninterruptible)
      return Quarantines.of({ clear, release })
    })
  )
