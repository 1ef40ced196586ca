/** Nodes of the last release and of today on one schema: what one has written, the other reads, changes and ends. */
import { RateStore } from "@weft/core"
import { stores } from "@weft/postgres"
import { Effect, Layer } from "effect"
import { byTurns } from "./ByTurns.ts"
import { emptiedDatabase } from "./Fresh.ts"
import * as previous from "./fixtures/previous/index.js"

const both = Layer.unwrap(
  Effect.map(emptiedDatabase, (url) => byTurns(previous.stores({ url }), stores({ url }), [RateStore.key]))
)

previous.databaseContracts("the last release and today's by turns", both, { exclusive: false })
