/**
 * JSON as text.
 *
 * Data that tenants send, and results of their code, are parsed where they enter and stay text from then on. The
 * database, the sandbox and the wire all need text, so hot paths encode it once.
 */
import { Schema } from "effect"

export const JsonText = Schema.String.pipe(Schema.brand("JsonText"))
export type JsonText = typeof JsonText.Type

export const toJsonText = (value: Schema.Json): JsonText =>
  JsonText.make(JSON.stringify(value), { disableChecks: true })

export const fromJsonText = (text: JsonText): Schema.Json => JSON.parse(text)
