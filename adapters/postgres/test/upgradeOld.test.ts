/** The last release on the current schema, as during an upgrade and after its rollback. */
import { layerWithFormerRecords } from "@weft/tooling/previous-fields"
import { Effect, Layer } from "effect"
import { emptiedDatabase } from "./Fresh.ts"
import { previous } from "./PreviousRelease.ts"

const onCurrentSchema = Layer.unwrap(Effect.map(emptiedDatabase, (url) => previous.stores({ url })))

previous.databaseContracts("the last release on the current schema", layerWithFormerRecords(onCurrentSchema), {
  exclusive: false
})
