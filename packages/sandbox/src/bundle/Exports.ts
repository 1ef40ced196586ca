/** Parses the exports of a bundle as described by its isolate. */
import { BundleRejected, type ExportedFunction } from "@weft/core/adapter"
import { Effect, Schema } from "effect"

const Described = Schema.fromJsonString(
  Schema.Array(
    Schema.Struct({
      ns: Schema.String,
      var: Schema.String,
      meta: Schema.optional(Schema.Json)
    })
  )
)

const decode = Schema.decodeUnknownEffect(Described)

/** Parses the description; returns the functions ordered by ns, then var, by code units. */
export const readExports = (text: string): Effect.Effect<ReadonlyArray<ExportedFunction>, BundleRejected> =>
  Effect.mapError(
    decode(text),
    () => new BundleRejected({ reason: "the exports of index.js cannot be described" })
  ).pipe(
    Effect.map((described) =>
      described
        .map((entry): ExportedFunction => ({ ns: entry.ns, var: entry.var, meta: entry.meta }))
        .sort((a, b) => compare(a.ns, b.ns) || compare(a.var, b.var))
    )
  )

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
