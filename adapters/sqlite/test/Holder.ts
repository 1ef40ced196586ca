/** A process that opens the database given on its command line, commits an event, prints "held", and keeps running. */
import { EnvId } from "@weft/core"
import { Event, EventId, JournalStore, JsonText, StreamId, Timestamp } from "@weft/core/adapter"
import { database } from "@weft/sqlite"
import { Effect } from "effect"

const [file = ""] = process.argv.slice(2)

const event = Event.make({
  event_id: EventId.make("01976a2b-0007-7000-8000-000000000001"),
  env_id: EnvId.make("01976a2b-0002-7000-8000-000000000001"),
  stream_id: StreamId.make("01976a2b-0006-7000-8000-000000000001"),
  event_type: "held",
  event_data: JsonText.make("null"),
  event_time: Timestamp.make(1),
  created_at: Timestamp.make(1)
})

const hold = Effect.gen(function* () {
  const journal = yield* JournalStore
  yield* journal.commit([{ _tag: "Appended", event, deliveries: [] }], null)
  process.stdout.write("held\n")
  return yield* Effect.never
})

await Effect.runPromise(Effect.provide(hold, database({ file })))
