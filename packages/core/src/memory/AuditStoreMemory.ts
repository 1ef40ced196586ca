/** `AuditStore` in memory: the executable specification. */
import { Effect, Layer } from "effect"
import type { AuditEntry } from "../resources/audit/AuditEntry.ts"
import { type AuditFilter, AuditStore } from "../resources/audit/AuditStore.ts"
import { compareText, MemoryDatabase, toPage } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<AuditStore, never, MemoryDatabase> = Layer.effect(
  AuditStore,
  Effect.gen(function* () {
    const { audit } = yield* MemoryDatabase

    const add = (entry: AuditEntry) => Effect.sync(() => void audit.set(entry.audit_id, entry))

    /** Counts newer entries of the same kind. */
    const newer = (entry: AuditEntry): number =>
      [...audit.values()].filter(
        (other) =>
          other.env_id === entry.env_id &&
          other.action === entry.action &&
          other.outcome === entry.outcome &&
          other.audit_id > entry.audit_id
      ).length

    return AuditStore.of({
      within: (change, toEntry) =>
        Effect.uninterruptible(
          Effect.tap(change, (result) => {
            const entry = toEntry(result)
            return entry === null ? Effect.void : add(entry)
          })
        ),

      append: (entries) => Effect.forEach(entries, add, { discard: true }),

      list: (filter, page) =>
        Effect.sync(() => toPage([...audit.values()].filter(matching(filter)).sort(newestFirst), page)),

      trim: ({ before, keep, limit }) =>
        Effect.sync(() => {
          const gone = [...audit.values()].filter((entry) => entry.created_at < before || newer(entry) >= keep)
          for (const entry of gone.slice(0, limit)) audit.delete(entry.audit_id)
          return Math.min(gone.length, limit)
        })
    })
  })
)

const matching = (filter: AuditFilter) => (entry: AuditEntry) =>
  (filter.env_id === undefined || entry.env_id === filter.env_id) &&
  (filter.action === undefined || entry.action === filter.action) &&
  (filter.outcome === undefined || entry.outcome === filter.outcome) &&
  (filter.actor_id === undefined || entry.actor_id === filter.actor_id) &&
  (filter.object_id === undefined || entry.object_id === filter.object_id) &&
  (filter.since === undefined || entry.created_at >= filter.since)

const newestFirst = (a: AuditEntry, b: AuditEntry): number => compareText(b.audit_id, a.audit_id)
