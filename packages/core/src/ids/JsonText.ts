/**
 * JSON as text.
 *
 * What tenants send and their code returns is parsed where it enters and stays text from then on: the
 * database, the sandbox and the wire all want text, and hot paths encode it once.
 */
import { Schema } from "effect"

export const JsonText = Schema.String.pipe(Schema.brand("JsonText"))
export type JsonText = typeof JsonText.Type

export const toJsonText = (value: Schema.Json): JsonText =>
  JsonText.make(JSON.stringify(value), { disableChecks: true })

export const fromJsonText = (text: JsonText): Schema.Json => JSON.parse(text)
