/** Annotates a field of a record with the example that the document shows for it. */
import { Schema } from "effect"

/**
 * Returns the field with an example. For a schema that transforms values, such as `Instant`, the example must be an
 * annotation of its wire format instead.
 */
export const example = <S extends Schema.Top>(field: S, value: S["Type"]): S["Rebuild"] =>
  field.pipe(Schema.annotateKey({ examples: [value] }))

/** The permission map of the credentials in examples. */
export const examplePermissions = { "event:*": ["create", "read"], "run:*": ["read"] }
