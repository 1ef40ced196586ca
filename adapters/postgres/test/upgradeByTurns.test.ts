/** Nodes of the last and the current release on one schema: each reads, changes and ends the other's records. */
import { RateStore } from "@weft/core/adapter"
import { database } from "@weft/postgres"
import { Effect, Layer } from "effect"
import { byTurns } from "./ByTurns.ts"
import { emptiedDatabase } from "./Fresh.ts"
import { previous } from "./PreviousRelease.ts"

const both = Layer.unwrap(
  Effect.map(emptiedDatabase, (url) => byTurns(previous.stores({ url }), database({ url }), [RateStore.key]))
)

previous.databaseContracts("the last and the current release, alternating", both, { exclusive: false })
