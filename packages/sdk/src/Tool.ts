/** Functions that models call. */
import type { AnyEvents, Catalogue } from "./Event.ts"
import { type JsonSchema, type RequestTerms, type ToolMeta, withMeta } from "./Meta.ts"
import type { InferInput, InferOutput, StandardJSONSchemaV1, StandardSchemaV1, Unchecked } from "./StandardSchema.ts"
import type { ToolSvc } from "./Svc.ts"
import { validate } from "./validate.ts"

export interface ToolOptions<Args extends StandardSchemaV1> extends Omit<ToolMeta, "input">, RequestTerms {
  /** Validates the arguments, after the runtime has validated them with `input`. Invalid ones fail the call with `Invalid`. */
  readonly args?: Args
  /** Schema for the model; by default derived from `args`. Required if `args` cannot be converted to JSON Schema. */
  readonly input?: JsonSchema
}

/** Requires `input` for a schema that cannot be converted to JSON Schema. */
type InputIfNeeded<Args extends StandardSchemaV1> = Unchecked extends Args
  ? unknown
  : Args extends StandardJSONSchemaV1
    ? unknown
    : { readonly input: JsonSchema }

export interface ToolFunctionMeta extends RequestTerms {
  readonly tool: ToolMeta
}

/** The function as the runtime calls it. */
export interface Tool<Args, Result, Events extends Catalogue = AnyEvents> {
  (args: Args, svc: ToolSvc<Events>): Promise<Result>
  readonly meta: ToolFunctionMeta
}

export type Tools<Events extends Catalogue = AnyEvents> = <Result, Args extends StandardSchemaV1 = Unchecked>(
  options: ToolOptions<Args> & InputIfNeeded<NoInfer<Args>>,
  fn: (args: InferOutput<Args>, svc: ToolSvc<Events>) => Result | Promise<Result>
) => Tool<InferInput<Args>, Result, Events>

/**
 * Defines a function that models call:
 *
 *     export const lookup = tool({ service: "crm", description: "Finds a customer", args: ById }, (args, svc) => …)
 */
export const tool: Tools = <Result, Args extends StandardSchemaV1>(
  options: ToolOptions<Args>,
  fn: (args: InferOutput<Args>, svc: ToolSvc) => Result | Promise<Result>
) => {
  const { args: schema, input, timeout, retention, record, ...rest } = options
  const described = input ?? (schema && toJsonSchema(schema))
  const run = async (args: InferInput<Args>, svc: ToolSvc): Promise<Result> =>
    fn(await validate(schema, args, "args"), svc)
  const tool = described === undefined ? rest : { ...rest, input: described }
  return withMeta(run, { tool, timeout, retention, record })
}

const toJsonSchema = (schema: StandardSchemaV1): JsonSchema => {
  if (hasJsonSchema(schema)) return schema["~standard"].jsonSchema.input({ target: "draft-2020-12" })
  throw new TypeError(`tool: ${schema["~standard"].vendor} cannot convert args to JSON Schema: set input as well`)
}

const hasJsonSchema = (schema: StandardSchemaV1): schema is StandardSchemaV1 & StandardJSONSchemaV1 =>
  "jsonSchema" in schema["~standard"]
