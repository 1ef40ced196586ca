/** `StreamStore` on SQL. */
import { StreamStore } from "@weft/core"
import { Effect, Layer } from "effect"
import { Database, orUnavailable } from "./Database.ts"

export const layer: Layer.Layer<StreamStore, never, Database> = Layer.effect(
  StreamStore,
  Effect.gen(function* () {
    const { reader } = yield* Database

    return StreamStore.of({
      // The runs of an event are in its stream, so that those are looked for without an event only.
      exists: (envId, id) =>
        reader<{ n: number }>`
          SELECT 1 AS n WHERE
            EXISTS (SELECT 1 FROM events WHERE env_id = ${envId} AND stream_id = ${id}) OR
            EXISTS (SELECT 1 FROM runs WHERE env_id = ${envId} AND stream_id = ${id} AND event_id IS NULL)
        `.pipe(
          Effect.map((rows) => rows.length > 0),
          orUnavailable("exists")
        )
    })
  })
)
