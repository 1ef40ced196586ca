/** Databases with Weft's tables, of their own for each test. */
import { stores } from "@weft/postgres"
import { databases } from "@weft/tooling/databases"
import { Effect, Layer } from "effect"

export const { freshDatabase, emptiedDatabase } = databases((url) => Layer.build(stores({ url })))

/** Stores with nothing in them. */
export const fresh = Layer.unwrap(Effect.map(emptiedDatabase, (url) => stores({ url })))
