/** UUIDs that clients send, of any version. */
import { isUuidShaped } from "@weft/core/adapter"
import { Schema } from "effect"

const examplesOf = (id: Schema.Codec<string>): ReadonlyArray<string> => Schema.resolveAnnotations(id)?.examples ?? []

/** Returns the schema of an id in a body or a query, with the example of its kind. */
export const sentId = (id: Schema.Codec<string>) =>
  Schema.String.check(isUuidShaped({ message: "must be a UUID" })).annotate({ examples: examplesOf(id) })

/** Returns the schema of an id in a path, with the example of its kind. Services answer 404 for other text. */
export const pathId = (id: Schema.Codec<string>) => Schema.String.annotate({ examples: examplesOf(id) })
