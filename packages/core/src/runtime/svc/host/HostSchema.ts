/**
 * Schemas of host functions' input and output: those of Effect, and those of libraries that implement Standard Schema
 * (https://standardschema.dev), such as zod and valibot.
 *
 * | schema of | input, from the guest | output, to the guest |
 * | --------- | --------------------- | -------------------- |
 * | Effect    | is decoded            | is encoded           |
 * | another   | is validated          | is validated         |
 */
import { Effect, Schema, SchemaIssue } from "effect"

/**
 * The types of `@standard-schema/spec` 1.1, reduced to what is used here.
 *
 * Copyright (c) 2024 Colin McDonnell, under the MIT License. Permission is granted, free of charge, to deal in the
 * Software without restriction, provided that this notice is included. It comes as is, without warranty of any kind.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
  }
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: ReadonlyArray<SchemaProblem> }

interface SchemaProblem {
  readonly message: string
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined
}

export type HostSchema = Schema.Codec<unknown, unknown> | StandardSchema

type StandardInput<S> = S extends StandardSchema ? NonNullable<S["~standard"]["types"]>["input"] : never
type StandardOutput<S> = S extends StandardSchema ? NonNullable<S["~standard"]["types"]>["output"] : never

/** Type of a guest's input for the input schema `S`. */
export type GuestInput<S extends HostSchema> = S extends Schema.Top ? S["Encoded"] : StandardInput<S>

/** Type of the input that the host function receives. */
export type HostInput<S extends HostSchema> = S extends Schema.Top ? S["Type"] : StandardOutput<S>

/** Type of the host function's output for the output schema `S`. */
export type HostOutput<S extends HostSchema> = S extends Schema.Top ? S["Type"] : StandardInput<S>

/** Type of the output that the guest receives, after JSON. */
export type GuestOutput<S extends HostSchema> = AsJson<S extends Schema.Top ? S["Encoded"] : StandardOutput<S>>

/** Type of a value after its conversion to JSON and back. */
type AsJson<A> = unknown extends A
  ? unknown
  : A extends { toJSON(): infer Json }
    ? Json
    : A extends object
      ? { [Key in keyof A]: AsJson<A[Key]> }
      : A

/** A value does not match its schema. `reason` names the fields and their problems. */
export class Mismatch extends Schema.TaggedError<Mismatch>()("Mismatch", { reason: Schema.String }) {
  override get message(): string {
    return this.reason
  }
}

type Check = (value: unknown) => Effect.Effect<unknown, Mismatch>

/** Returns a function that decodes a guest's input. Errors that the schema throws are defects. */
export const makeInputCheck = (schema: HostSchema): Check =>
  Schema.isSchema(schema) ? checkWithEffect(Schema.decodeUnknownEffect(schema)) : checkWithStandard(schema)

/** Returns a function that encodes a host function's output. Errors that the schema throws are defects. */
export const makeOutputCheck = (schema: HostSchema): Check =>
  Schema.isSchema(schema) ? checkWithEffect(Schema.encodeUnknownEffect(schema)) : checkWithStandard(schema)

const checkWithEffect =
  (check: (value: unknown, options: { readonly errors: "all" }) => Effect.Effect<unknown, Schema.SchemaError>): Check =>
  (value) =>
    Effect.catchTag(check(value, { errors: "all" }), "SchemaError", ({ issue }) => mismatch(formatIssue(issue).issues))

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

const checkWithStandard =
  (schema: StandardSchema): Check =>
  (value) =>
    Effect.flatMap(
      Effect.promise(async () => schema["~standard"].validate(value)),
      (checked) => (checked.issues === undefined ? Effect.succeed(checked.value) : mismatch(checked.issues))
    )

/** Maximum problems in an error, and maximum characters of each. */
const problemsMax = 8
const problemLength = 200

const mismatch = (problems: ReadonlyArray<SchemaProblem>): Effect.Effect<never, Mismatch> => {
  const listed = problems.slice(0, problemsMax).map((problem) => formatProblem(problem).slice(0, problemLength))
  const more = problems.length - listed.length
  return new Mismatch({ reason: more > 0 ? `${listed.join("; ")}; and ${more} more` : listed.join("; ") })
}

/** Returns a text such as `items.0.sku: Expected a string`. */
const formatProblem = ({ message, path = [] }: SchemaProblem): string =>
  path.length === 0
    ? message
    : `${path.map((part) => String(typeof part === "object" ? part.key : part)).join(".")}: ${message}`
