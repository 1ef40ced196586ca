/** Records damaged contents: in the log, as a metric and as audit entries. */
import { Clock, Effect, Layer } from "effect"
import { NodeMetrics } from "../../foundation/telemetry/NodeMetrics.ts"
import type { Series } from "../../foundation/telemetry/Series.ts"
import { type Damage, DamageReports } from "../files/DamageReports.ts"
import { makeEntries } from "./AuditFacts.ts"
import { AuditStore } from "./AuditStore.ts"

/** Interval in which repeated damage of one blob adds one entry, in milliseconds: 1 hour. */
const repeatMs = 3_600_000

/** Maximum damaged blobs to remember. The oldest are forgotten. */
const rememberedMax = 1_000

export const layer = Layer.effect(
  DamageReports,
  Effect.gen(function* () {
    const audit = yield* AuditStore
    const metrics = yield* NodeMetrics
    const entries = yield* makeEntries
    const reportedAt = new Map<string, number>()
    const counts = { file: 0, build: 0 }

    metrics.register(
      Effect.sync(() =>
        (["file", "build"] as const).map(
          (kind): Series => ({
            type: "counter",
            name: "weft_damaged_contents_total",
            help: "Reads of files and builds whose stored bytes were damaged",
            labels: { kind },
            value: counts[kind]
          })
        )
      )
    )

    const isRepeated = (key: string, now: number): boolean => {
      if (now - (reportedAt.get(key) ?? Number.NEGATIVE_INFINITY) < repeatMs) return true
      reportedAt.delete(key)
      reportedAt.set(key, now)
      const [oldest] = reportedAt.keys()
      if (reportedAt.size > rememberedMax && oldest !== undefined) reportedAt.delete(oldest)
      return false
    }

    return DamageReports.of({
      report: Effect.fnUntraced(function* ({ kind, env_id, id, name, storage_path }: Damage) {
        counts[kind]++
        if (isRepeated(storage_path, yield* Clock.currentTimeMillis)) return
        yield* Effect.logError(`The stored bytes of ${kind} ${id} are damaged: restore the blob ${storage_path}`)
        const toEntry = yield* entries
        const entry = toEntry({
          action: kind === "file" ? "file.damage" : "build.damage",
          env_id,
          object_id: id,
          object_name: name,
          details: { storage_path }
        })
        yield* Effect.ignore(audit.append([entry]), { log: "Warn" })
      })
    })
  })
)
