/** Guarantees of a database in a file, in addition to the contract. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { EnvId, firstPage } from "@weft/core"
import {
  Event,
  EventId,
  EventStore,
  JournalStore,
  JsonText,
  StreamId,
  TenantStore,
  Timestamp
} from "@weft/core/adapter"
import { database } from "@weft/sqlite"
import { Effect, Layer } from "effect"
import * as JournalThread from "../src/JournalThread.ts"
import { temporaryFolder } from "./Fresh.ts"

const envId = EnvId.make("01976a2b-0002-7000-8000-000000000001")

const event = Event.make({
  event_id: EventId.make("01976a2b-0007-7000-8000-000000000009"),
  env_id: envId,
  stream_id: StreamId.make("01976a2b-0006-7000-8000-000000000009"),
  event_type: "kept",
  event_data: JsonText.make("null"),
  event_time: Timestamp.make(1),
  created_at: Timestamp.make(1)
})

const append = Effect.flatMap(JournalStore, (journal) =>
  journal.commit([{ _tag: "Appended", event, deliveries: [] }], null)
)

const listEvents = Effect.flatMap(EventStore, (store) => store.list(envId, firstPage))

const listOrgs = Effect.flatMap(TenantStore, (store) => store.listOrgs(firstPage))

/** Starts another process that has the file open. The scope kills it if it still runs. */
const holder = (file: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const script = fileURLToPath(new URL("./Holder.ts", import.meta.url))
      const child = spawn(process.execPath, ["--conditions=weft-source", script, file], {
        stdio: ["ignore", "pipe", "inherit"]
      })
      await once(child.stdout, "data")
      return child
    }),
    (child) => Effect.promise(() => kill(child))
  )

const kill = async (child: ChildProcess) => {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill("SIGKILL")
  await once(child, "exit")
}

describe("SQLite in a file", () => {
  it.effect("keeps committed rows after it is closed and reopened", () =>
    Effect.gen(function* () {
      const layer = database({ file: join(yield* temporaryFolder, "weft.db") })
      assert.deepStrictEqual(yield* Effect.provide(append, layer), [true])
      const found = yield* Effect.provide(listEvents, layer)
      assert.deepStrictEqual(found, { items: [event], total: 1 })
    })
  )

  it.effect("creates its folder and files with access for the owner only", () =>
    Effect.gen(function* () {
      const parent = yield* temporaryFolder
      const folder = join(parent, "made", "on the way")
      const modes = Effect.sync(() => readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777))
      const layer = database({ file: join(folder, "weft.db") })
      const found = yield* Effect.provide(Effect.andThen(append, modes), layer)
      assert.isAtLeast(found.length, 3)
      assert.isTrue(found.every((mode) => mode === 0o600))
      assert.strictEqual(statSync(folder).mode & 0o777, 0o700)
    })
  )

  it.effect("can be opened only once in a process", () =>
    Effect.gen(function* () {
      const file = join(yield* temporaryFolder, "weft.db")
      const again = Effect.flip(Effect.provide(listOrgs, database({ file })))
      const errors = yield* Effect.provide(
        // Twice, because a failed attempt must not release the lock either.
        Effect.andThen(listOrgs, Effect.all([again, again])),
        database({ file })
      )
      for (const error of errors) {
        assert.strictEqual(error._tag, "DatabaseInUse")
        assert.include(error.message, file)
      }
    })
  )

  it.effect("can be opened by one process at a time, and by another after that one is killed", () =>
    Effect.gen(function* () {
      const file = join(yield* temporaryFolder, "weft.db")
      const child = yield* holder(file)
      const error = yield* Effect.flip(Effect.provide(listOrgs, database({ file })))
      assert.strictEqual(error._tag, "DatabaseInUse")
      assert.include(error.message, file)
      yield* Effect.promise(() => kill(child))
      const { items } = yield* Effect.provide(listEvents, database({ file }))
      assert.deepStrictEqual(
        items.map((item) => item.event_type),
        ["held"]
      )
    })
  )

  it.effect("fails with DatabaseUnusable and the file name if the file is not a database", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const file = join(folder, "weft.db")
      writeFileSync(file, "this is no database, ".repeat(500))
      const error = yield* Effect.flip(Effect.provide(listOrgs, database({ file })))
      assert.strictEqual(error._tag, "DatabaseUnusable")
      assert.include(error.message, file)
      const inFile = database({ file: join(file, "weft.db") })
      assert.strictEqual((yield* Effect.flip(Effect.provide(listOrgs, inFile)))._tag, "DatabaseUnusable")
    })
  )
})

describe("the journal's thread", () => {
  it.effect("fails pending calls with StoreUnavailable when it ends, and is restarted by the next call", () =>
    Effect.gen(function* () {
      const folder = join(yield* temporaryFolder, "later")
      const file = join(folder, "weft.db")
      const journal = yield* Effect.provide(
        Effect.gen(function* () {
          const store = yield* JournalStore
          const both = yield* Effect.all([Effect.flip(store.commit([], null)), Effect.flip(store.commit([], null))], {
            concurrency: 2
          })
          assert.deepStrictEqual(
            both.map((error) => error._tag),
            ["StoreUnavailable", "StoreUnavailable"]
          )
          mkdirSync(folder)
          yield* Effect.provide(listOrgs, database({ file }))
          return yield* store.commit([{ _tag: "Appended", event, deliveries: [] }], null)
        }),
        Layer.effectContext(
          Effect.map(JournalThread.start({ file, synchronous: "full", readonly: false }), JournalThread.makeStores)
        )
      )
      assert.deepStrictEqual(journal, [true])
    })
  )
})
