/** Entries of a manifest that clients of the Model Context Protocol (MCP) see: tools, resources and prompts. */
import { Schema } from "effect"
import { synchronousOptions } from "./SynchronousOptions.ts"

const fn = { ns: Schema.String, var: Schema.String }

/** Hints for clients about the effects of a tool. Clients must not trust them. */
export const ToolAnnotations = Schema.Struct({
  readOnlyHint: Schema.optionalKey(Schema.Boolean),
  destructiveHint: Schema.optionalKey(Schema.Boolean),
  idempotentHint: Schema.optionalKey(Schema.Boolean),
  openWorldHint: Schema.optionalKey(Schema.Boolean)
})
export type ToolAnnotations = typeof ToolAnnotations.Type

export const Tool = Schema.Struct({
  ...fn,
  service: Schema.String,
  name: Schema.String,
  title: Schema.optionalKey(Schema.String),
  description: Schema.String,
  /** JSON Schema of the arguments. */
  input: Schema.Json,
  /** JSON Schema of the result. */
  output: Schema.optionalKey(Schema.Json),
  annotations: Schema.optionalKey(ToolAnnotations),
  ...synchronousOptions
})
export type Tool = typeof Tool.Type

/** Possible values of an argument, or the function `ns/var` of the same build that returns them. */
export const Completion = Schema.Union([Schema.Array(Schema.String), Schema.String])
export type Completion = typeof Completion.Type

export const Resource = Schema.Struct({
  ...fn,
  service: Schema.String,
  /** URI, or URI template with `{variables}`. */
  uri: Schema.String,
  name: Schema.String,
  title: Schema.optionalKey(Schema.String),
  description: Schema.String,
  mime_type: Schema.optionalKey(Schema.String),
  /** Completions by variable of the template. */
  complete: Schema.Record(Schema.String, Completion),
  ...synchronousOptions
})
export type Resource = typeof Resource.Type

export const PromptArgument = Schema.Struct({
  name: Schema.String,
  title: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  required: Schema.Boolean,
  complete: Schema.optionalKey(Completion)
})
export type PromptArgument = typeof PromptArgument.Type

export const Prompt = Schema.Struct({
  ...fn,
  service: Schema.String,
  name: Schema.String,
  title: Schema.optionalKey(Schema.String),
  description: Schema.String,
  arguments: Schema.Array(PromptArgument),
  ...synchronousOptions
})
export type Prompt = typeof Prompt.Type
