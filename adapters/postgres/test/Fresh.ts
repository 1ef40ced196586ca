/** Databases with Weft's tables, one per test. */
import { database } from "@weft/postgres"
import { databases } from "@weft/tooling/databases"
import { Effect, Layer } from "effect"

export const { freshDatabase, emptiedDatabase } = databases((url) => Layer.build(database({ url })))

/** Empty stores. */
export const fresh = Layer.unwrap(Effect.map(emptiedDatabase, (url) => database({ url })))
