import { lifecycleModel } from "@weft/contract"
import { MemoryStores } from "@weft/core/testing"
import { database } from "@weft/sqlite"
import { Effect, Layer } from "effect"
import { freshFile } from "./Fresh.ts"

/** Gives the journal's thread time to answer. */
const waitReal = Effect.promise(async () => {
  for (let round = 0; round < 4; round++) await new Promise((resolve) => setTimeout(resolve, 1))
})

const withBlobs = <A, E>(database: Layer.Layer<A, E>) =>
  Layer.mergeAll(database, MemoryStores.blobs, MemoryStores.cluster)

lifecycleModel("SQLite in memory", withBlobs(database({ file: ":memory:" })), {
  exclusive: true,
  histories: 4,
  waitReal
})
lifecycleModel("SQLite in a file", withBlobs(freshFile), { exclusive: true, histories: 2, waitReal })
