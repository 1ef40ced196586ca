import { lifecycleModel } from "@weft/contract"
import { MemoryStores } from "@weft/core"
import { stores } from "@weft/sqlite"
import { Effect, Layer } from "effect"
import { freshFile } from "./Fresh.ts"

/** The journal has a thread of its own, which answers when it can. */
const turn = Effect.promise(async () => {
  for (let turns = 0; turns < 4; turns++) await new Promise((resolve) => setTimeout(resolve, 1))
})

const withBlobs = <A, E>(database: Layer.Layer<A, E>) => Layer.mergeAll(database, MemoryStores.blobs, MemoryStores.feed)

lifecycleModel("SQLite in memory", withBlobs(stores({ file: ":memory:" })), { exclusive: true, histories: 4, turn })
lifecycleModel("SQLite in a file", withBlobs(freshFile), { exclusive: true, histories: 2, turn })
