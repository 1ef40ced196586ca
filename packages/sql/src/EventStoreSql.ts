/** `EventStore` on SQL. */
import { NotFound } from "@weft/core"
import { type Event, type EventId, EventStore } from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { Database, onlyRow, orUnavailable, readCount } from "./Database.ts"
import { loadLargeTexts, textIfSmall } from "./LargeTexts.ts"

export const layer: Layer.Layer<EventStore, never, Database> = Layer.effect(
  EventStore,
  Effect.gen(function* () {
    const { dialect, reader } = yield* Database

    return EventStore.of({
      get: (envId, id) =>
        onlyRow(reader<Event>`SELECT * FROM events WHERE env_id = ${envId} AND event_id = ${id}`, notFound).pipe(
          orUnavailable("get")
        ),

      getMany: (envId, ids) =>
        reader<Event>`SELECT * FROM events WHERE env_id = ${envId} AND event_id ${dialect.among(reader, ids)}`.pipe(
          orUnavailable("getMany")
        ),

      list: (envId, { limit, offset }, only) => {
        const terms: Array<Statement.Fragment> = [reader`env_id = ${envId}`]
        if (only !== undefined) terms.push(reader`event_type ${dialect.among(reader, only)}`)
        const where = reader.and(terms)
        const found = reader<Event & { readonly text_bytes: number }>`
          SELECT event_id, env_id, stream_id, event_type, ${textIfSmall(reader, "event_data")}, event_time, created_at
          FROM events WHERE ${where} ORDER BY event_id DESC LIMIT ${limit} OFFSET ${offset}`
        const whole = (ids: ReadonlyArray<EventId>) =>
          reader<Event>`SELECT * FROM events WHERE env_id = ${envId} AND event_id ${dialect.among(reader, ids)}`
        return Effect.all({
          items: Effect.flatMap(found, (rows) =>
            loadLargeTexts(rows, "event_id", whole, ({ text_bytes, ...event }): Event => event)
          ),
          total: readCount(reader<{ n: number | null }>`SELECT sum(n) AS n FROM event_counts WHERE ${where}`)
        }).pipe(orUnavailable("list"))
      }
    })
  })
)

const notFound = new NotFound({ resource: "event" })
