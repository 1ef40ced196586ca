/** Deliveries in a file of a release without groups. */
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { fresh, JournalStore, NodeId, RunId, Timestamp } from "@weft/core/adapter"
import { Database, migrateTo, sqlite } from "@weft/sql"
import { database } from "@weft/sqlite"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { open } from "../src/SqliteClient.ts"
import { temporaryFolder } from "./Fresh.ts"

const env_id = "01976a2b-0002-7000-8000-000000000001"
const retry = { attempts: 3, delay_ms: 1000, backoff: 2, max_delay_ms: 60_000, jitter: true }
const terms = JSON.stringify({ retry, timeout_ms: 1234, caused_by: null })

/** A database at migration 6: delivery `d1` is pending, and a running run holds `d2`. */
const oldDatabase = (file: string) =>
  Effect.gen(function* () {
    const writer = yield* open({ file, synchronous: "normal", readonly: false })
    yield* Effect.provideService(migrateTo(6), Database, { dialect: sqlite, writer, reader: writer, exclusive: true })
    const event = { env_id, event_id: "e", stream_id: "s", event_type: "job", event_time: 1, created_at: 1 }
    yield* writer`INSERT INTO events ${writer.insert({ ...event, event_data: "null" })}`
    const fn = { project_id: "p", project_name: "shop", build_id: "b", ns: "main", var: "job", run_type: "event" }
    const common = { env_id, event_id: "e", stream_id: "s", ...fn, attempt: 1, first_run_id: null, terms }
    yield* writer`INSERT INTO deliveries ${writer.insert({ ...common, delivery_id: "d1", due_at: 5 })}`
    const run = { run_id: "r", status: "running", start_time: 2, node_id: "n", delivery_id: "d2" }
    yield* writer`INSERT INTO runs ${writer.insert({ ...common, ...run })}`
  }).pipe(Effect.scoped)

describe("a database migrated from a release without groups", () => {
  it.effect("keeps its pending and running deliveries, without a group", () =>
    Effect.gen(function* () {
      const file = join(yield* temporaryFolder, "weft.db")
      yield* oldDatabase(file)
      yield* Effect.gen(function* () {
        const journal = yield* JournalStore
        const now = Timestamp.make(10)
        const node_id = yield* fresh(NodeId)
        const lost = yield* journal.reap(node_id, now, 10)
        assert.strictEqual(lost.length, 1)
        const runIds = [yield* fresh(RunId), yield* fresh(RunId), yield* fresh(RunId)]
        const lease = { node_id, until: now }
        const { claims, parked } = yield* journal.claim({ lease, now, runIds, perEnv: 10, exclude: [], freed: [] })
        assert.strictEqual(parked, 0)
        assert.sameDeepMembers(
          claims.map(({ delivery }) => [String(delivery.delivery_id), delivery.group, delivery.timeout_ms]),
          [
            ["d1", null, 1234],
            ["d2", null, 1234]
          ]
        )
        assert.deepStrictEqual(yield* journal.parked(null, 10), [])
      }).pipe(Effect.provide(database({ file })))
    }).pipe(Effect.scoped, Effect.provide(SecureRandom.layerWebCrypto))
  )
})
