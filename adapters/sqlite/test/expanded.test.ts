/** The current code on the schema and records of a later release, which have more columns and fields. */
import { assert, describe, it } from "@effect/vitest"
import { databaseContracts } from "@weft/contract"
import { EnvId } from "@weft/core"
import { BuildStore, JournalStore, NodeId, ProjectId, RunId, RunStore, Timestamp } from "@weft/core/adapter"
import { MemoryStores } from "@weft/core/testing"
import { Database, journalStore, migrate, recordStores, sqlite } from "@weft/sql"
import { Context, Effect, Layer } from "effect"
import { open } from "../src/SqliteClient.ts"

const unknownColumn = "of_a_later_release"

const expanded = Effect.gen(function* () {
  const client = yield* open({ file: ":memory:", synchronous: "normal", readonly: false })
  const database = Database.of({ dialect: sqlite, writer: client, reader: client, exclusive: true })
  yield* Effect.provideService(migrate, Database, database)
  const tables = yield* client<{ name: string }>`SELECT name FROM sqlite_schema WHERE type = 'table'`
  for (const { name } of tables) {
    yield* client.unsafe(`ALTER TABLE ${name} ADD COLUMN ${unknownColumn} TEXT NOT NULL DEFAULT 'later'`)
  }
  // Read in one query with a table that does not have this column.
  yield* client.unsafe(`ALTER TABLE deployments ADD COLUMN ${unknownColumn}_either TEXT`)
  return database
})

const stores = Layer.mergeAll(recordStores, journalStore).pipe(
  Layer.provideMerge(Layer.effect(Database, expanded)),
  Layer.merge(MemoryStores.rates)
)

/** The services, with unknown columns removed from their results. */
const withoutUnknown = Layer.effectContext(
  Effect.map(Layer.build(stores), (context) => {
    const services = [...context.mapUnsafe].map(([key, service]): readonly [string, unknown] => [
      key,
      typeof service === "object" && service !== null ? stripResults(service) : service
    ])
    return Context.makeUnsafe<Layer.Success<typeof stores>>(new Map(services))
  })
)

const stripResults = (service: object): object =>
  new Proxy(service, { get: (target, name) => stripResult(Reflect.get(target, name)) })

const stripResult = (member: unknown): unknown => {
  if (typeof member === "function") {
    return (...args: ReadonlyArray<unknown>) => stripResult(Reflect.apply(member, undefined, args))
  }
  return Effect.isEffect(member) ? Effect.map(member, strip) : member
}

const strip = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(strip)
  if (typeof value !== "object" || value === null) return value
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && prototype !== Object.prototype) return value
  const known = Object.entries(value).filter(([name]) => !name.startsWith(unknownColumn))
  return Object.fromEntries(known.map(([name, field]) => [name, strip(field)]))
}

databaseContracts("SQLite with columns of a later release", withoutUnknown, { exclusive: true })

const envId = EnvId.make("01976a2b-0002-7000-8000-000000000001")
const projectId = ProjectId.make("01976a2b-0003-7000-8000-000000000001")
const buildId = "01976a2b-0004-7000-8000-000000000001"
const runId = RunId.make("01976a2b-0008-7000-8000-000000000001")
const later = { of_a_later_release: { a: 1 } }

const terms = {
  retry: { attempts: 3, delay_ms: 1000, backoff: 2, max_delay_ms: 1000, jitter: false, ...later },
  timeout_ms: 1000,
  caused_by: null,
  group: null,
  ...later
}

describe("records with fields of a later release", () => {
  it.effect("are read, and a delivery keeps unknown fields of its terms", () =>
    Effect.gen(function* () {
      const { writer: sql } = yield* Database
      const journal = yield* JournalStore
      const delivery = { delivery_id: "d", event_id: "e", stream_id: "s", project_id: projectId, project_name: "shop" }
      const fn = { build_id: "b", ns: "main", var: "fn", run_type: "event", attempt: 1, first_run_id: null }
      const waiting = { env_id: envId, due_at: 1, ...delivery, ...fn, terms: JSON.stringify(terms), group_key: null }
      yield* sql`INSERT INTO deliveries ${sql.insert(waiting)}`
      const event = { event_type: "t", event_time: 1, created_at: 1, event_data: "null" }
      yield* sql`INSERT INTO events ${sql.insert({ env_id: envId, event_id: "e", stream_id: "s", ...event })}`

      const now = Timestamp.make(10)
      const node_id = NodeId.make("01976a2b-0009-7000-8000-000000000001")
      const lease = { node_id, until: Timestamp.make(1000) }
      const { claims } = yield* journal.claim({ lease, now, runIds: [runId], perEnv: 10, exclude: [], freed: [] })
      assert.strictEqual(claims[0]?.delivery.retry.attempts, 3)
      const another = NodeId.make("01976a2b-0009-7000-8000-000000000002")
      assert.lengthOf(yield* journal.reap(another, Timestamp.make(2000), 10), 1)
      const [row] = yield* sql<{ terms: string }>`SELECT terms FROM deliveries`
      assert.deepStrictEqual(JSON.parse(row?.terms ?? ""), terms)
    }).pipe(Effect.provide(stores))
  )

  it.effect("are read from logs and manifests", () =>
    Effect.gen(function* () {
      const { writer: sql } = yield* Database
      const project = { project_id: projectId, env_id: envId, name: "shop", active: 1, created_at: 1, updated_at: 1 }
      yield* sql`INSERT INTO projects ${sql.insert(project)}`
      const manifest = { functions: [], handlers: [], schedules: [], endpoints: [], tools: [], ...later }
      const build = {
        build_id: buildId,
        project_id: projectId,
        env_id: envId,
        hash: "h",
        size: 1,
        build_type: "bundle"
      }
      const stored = { active: 1, created_at: 1, updated_at: 1, storage_path: "p", storage_backend: "s" }
      yield* sql`INSERT INTO builds ${sql.insert({ ...build, ...stored })}`
      const serves = { project_id: projectId, env_id: envId, build_id: buildId, manifest: JSON.stringify(manifest) }
      yield* sql`INSERT INTO deployments ${sql.insert(serves)}`
      const [deployment] = yield* BuildStore.use((builds) => builds.deployments(envId))
      assert.deepStrictEqual(deployment?.manifest.schedules, [])

      const line = { seq: 0, time: 1, level: "info", message: "m", data: null, ...later }
      const run = { env_id: envId, run_id: runId, stream_id: "s", project_id: projectId, project_name: "shop" }
      const fn = { build_id: "b", ns: "main", var: "fn", run_type: "event", status: "succeeded", start_time: 1 }
      const rest = { attempt: 1, node_id: "n", result: "null", logs: JSON.stringify([line]) }
      yield* sql`INSERT INTO runs ${sql.insert({ ...run, ...fn, ...rest })}`
      const { items } = yield* RunStore.use((runs) => runs.logs(envId, runId, { limit: 10, offset: 0 }))
      assert.strictEqual(items[0]?.message, "m")
    }).pipe(Effect.provide(stores))
  )
})
