/** Functions that models call. */
import type { AnyEvents, Catalogue } from "./Event.ts"
import { type JsonSchema, type Terms, type ToolMeta, withMeta } from "./Meta.ts"
import type { InferInput, InferOutput, StandardJSONSchemaV1, StandardSchemaV1, Unchecked } from "./StandardSchema.ts"
import type { ToolSvc } from "./Svc.ts"
import { validate } from "./validate.ts"

export interface ToolOptions<Args extends StandardSchemaV1> extends Omit<ToolMeta, "input">, Terms {
  /** Checks the arguments, after the runtime has checked them against `input`; the call fails with `Invalid`. */
  readonly args?: Args
  /** For the model; what `args` says by default. Needed with a schema that cannot say itself as JSON Schema. */
  readonly input?: JsonSchema
}

/** A schema without the trait for JSON Schema needs `input` beside itself. */
type InputIfNeeded<Args extends StandardSchemaV1> = Unchecked extends Args
  ? unknown
  : Args extends StandardJSONSchemaV1
    ? unknown
    : { readonly input: JsonSchema }

export interface ToolFunctionMeta extends Terms {
  readonly tool: ToolMeta
}

/** As the runtime calls it. */
export interface Tool<Args, Result, Events extends Catalogue = AnyEvents> {
  (args: Args, svc: ToolSvc<Events>): Promise<Result>
  readonly meta: ToolFunctionMeta
}

export type Tools<Events extends Catalogue = AnyEvents> = <Result, Args extends StandardSchemaV1 = Unchecked>(
  options: ToolOptions<Args> & InputIfNeeded<NoInfer<Args>>,
  fn: (args: InferOutput<Args>, svc: ToolSvc<Events>) => Result | Promise<Result>
) => Tool<InferInput<Args>, Result, Events>

/**
 * A function that models call:
 *
 *     export const lookup = tool({ service: "crm", description: "Finds a customer", args: ById }, (args, svc) => …)
 */
export const tool: Tools = <Result, Args extends StandardSchemaV1>(
  options: ToolOptions<Args>,
  fn: (args: InferOutput<Args>, svc: ToolSvc) => Result | Promise<Result>
) => {
  const { args: schema, input, timeout, ...rest } = options
  const described = input ?? (schema && jsonSchemaOf(schema))
  const run = async (args: InferInput<Args>, svc: ToolSvc): Promise<Result> =>
    fn(await validate(schema, args, "args"), svc)
  return withMeta(run, { tool: described === undefined ? rest : { ...rest, input: described }, timeout })
}

const jsonSchemaOf = (schema: StandardSchemaV1): JsonSchema => {
  if (saysJsonSchema(schema)) return schema["~standard"].jsonSchema.input({ target: "draft-2020-12" })
  throw new TypeError(`tool: ${schema["~standard"].vendor} does not say args as JSON Schema: give input, too`)
}

const saysJsonSchema = (schema: StandardSchemaV1): schema is StandardSchemaV1 & StandardJSONSchemaV1 =>
  "jsonSchema" in schema["~standard"]
