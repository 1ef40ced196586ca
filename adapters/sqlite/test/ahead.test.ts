/** The journal's thread, started before anything else is loaded. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { EnvId, firstPage } from "@weft/core"
import { Event, EventId, EventStore, JournalStore, JsonText, StreamId, Timestamp } from "@weft/core/adapter"
import { database } from "@weft/sqlite"
import { beginThread } from "@weft/sqlite/ahead"
import { Effect } from "effect"
import { temporaryFolder } from "./Fresh.ts"

const envId = EnvId.make("01976a2b-0002-7000-8000-000000000001")

const event = (n: number) =>
  Event.make({
    event_id: EventId.make(`01976a2b-0007-7000-8000-00000000000${n}`),
    env_id: envId,
    stream_id: StreamId.make("01976a2b-0006-7000-8000-000000000009"),
    event_type: "kept",
    event_data: JsonText.make("null"),
    event_time: Timestamp.make(1),
    created_at: Timestamp.make(1)
  })

const appendAndList = (n: number) =>
  Effect.gen(function* () {
    yield* (yield* JournalStore).commit([{ _tag: "Appended", event: event(n), deliveries: [] }], null)
    const { items } = yield* (yield* EventStore).list(envId, firstPage)
    return items.map(({ event_id }) => event_id)
  })

describe("beginThread", () => {
  it.effect("starts the thread of the next opened file only", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const file = (name: string) => database({ file: join(folder, name) })
      beginThread()
      beginThread()
      const both = yield* Effect.all(
        [Effect.provide(appendAndList(1), file("one.db")), Effect.provide(appendAndList(2), file("other.db"))],
        { concurrency: 2 }
      )
      assert.deepStrictEqual(both, [[event(1).event_id], [event(2).event_id]])
      // The thread ended with its file, so a second open starts another one.
      assert.lengthOf(yield* Effect.provide(appendAndList(3), file("one.db")), 2)
    })
  )

  it("does not keep a process alive that opens no file", () => {
    const script = 'import { beginThread } from "@weft/sqlite/ahead"; beginThread()'
    const { status, stderr } = spawnSync(
      process.execPath,
      ["--conditions=weft-source", "--input-type=module", "-e", script],
      { cwd: import.meta.dirname, encoding: "utf8", timeout: 20_000 }
    )
    assert.strictEqual(status, 0, stderr)
  })
})
