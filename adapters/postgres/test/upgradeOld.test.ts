/** The last release on today's schema: while nodes are upgraded, and when they have to go back. */
import { Effect, Layer } from "effect"
import { emptiedDatabase } from "./Fresh.ts"
import { databaseContracts, stores } from "./fixtures/previous/index.js"

const onTodaysSchema = Layer.unwrap(Effect.map(emptiedDatabase, (url) => stores({ url })))

databaseContracts("the last release on today's schema", onTodaysSchema, { exclusive: false })
