/**
 * What host functions check their input and output with: a schema of Effect, or one of any library that knows Standard
 * Schema (https://standardschema.dev), such as zod and valibot.
 *
 * | schema of | input, from the guest | output, to the guest |
 * | --------- | --------------------- | -------------------- |
 * | Effect    | is decoded            | is encoded           |
 * | another   | is validated          | is validated         |
 */
import { Effect, Schema, SchemaIssue } from "effect"

/**
 * What schema libraries agree on: the types of `@standard-schema/spec` 1.1 as far as they are used here.
 *
 * Copyright (c) 2024 Colin McDonnell, under the MIT License: permission is granted, free of charge, to deal in the
 * Software without restriction, provided that this notice is included; it comes as is, without warranty of any kind.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    readonly validate: (value: unknown) => Checked<Output> | Promise<Checked<Output>>
  }
}

type Checked<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: ReadonlyArray<SchemaProblem> }

interface SchemaProblem {
  readonly message: string
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined
}

export type HostSchema = Schema.Codec<unknown, unknown> | StandardSchema

type StandardInput<S> = S extends StandardSchema ? NonNullable<S["~standard"]["types"]>["input"] : never
type StandardOutput<S> = S extends StandardSchema ? NonNullable<S["~standard"]["types"]>["output"] : never

/** What a guest gives where `S` is the schema of the input. */
export type GuestInput<S extends HostSchema> = S extends Schema.Top ? S["Encoded"] : StandardInput<S>

/** What the host's function gets of it. */
export type HostInput<S extends HostSchema> = S extends Schema.Top ? S["Type"] : StandardOutput<S>

/** What the host's function gives where `S` is the schema of the output. */
export type HostOutput<S extends HostSchema> = S extends Schema.Top ? S["Type"] : StandardInput<S>

/** What the guest gets of it: as JSON has it. */
export type GuestOutput<S extends HostSchema> = AsJson<S extends Schema.Top ? S["Encoded"] : StandardOutput<S>>

/** What a value is once it has been JSON. */
type AsJson<A> = unknown extends A
  ? unknown
  : A extends { toJSON(): infer Json }
    ? Json
    : A extends object
      ? { [Key in keyof A]: AsJson<A[Key]> }
      : A

/** A value is not as its schema says. `reason` names the fields and what is wrong with them. */
export class Mismatch extends Schema.TaggedError<Mismatch>()("Mismatch", { reason: Schema.String }) {
  override get message(): string {
    return this.reason
  }
}

type Check = (value: unknown) => Effect.Effect<unknown, Mismatch>

/** Reads what a guest gave. Dies of what the schema throws. */
export const inputCheck = (schema: HostSchema): Check =>
  Schema.isSchema(schema) ? checkedBy(Schema.decodeUnknownEffect(schema)) : validatedBy(schema)

/** Writes what the host gives. Dies of what the schema throws. */
export const outputCheck = (schema: HostSchema): Check =>
  Schema.isSchema(schema) ? checkedBy(Schema.encodeUnknownEffect(schema)) : validatedBy(schema)

const checkedBy =
  (check: (value: unknown, options: { readonly errors: "all" }) => Effect.Effect<unknown, Schema.SchemaError>): Check =>
  (value) =>
    Effect.catchTag(check(value, { errors: "all" }), "SchemaError", ({ issue }) => mismatch(problemsOf(issue).issues))

const problemsOf = SchemaIssue.makeFormatterStandardSchemaV1()

const validatedBy =
  (schema: StandardSchema): Check =>
  (value) =>
    Effect.flatMap(
      Effect.promise(async () => schema["~standard"].validate(value)),
      (checked) => (checked.issues === undefined ? Effect.succeed(checked.value) : mismatch(checked.issues))
    )

/** Problems that are told, and how much of each. */
const problemsMax = 8
const problemLength = 200

const mismatch = (problems: ReadonlyArray<SchemaProblem>): Effect.Effect<never, Mismatch> => {
  const told = problems.slice(0, problemsMax).map((problem) => textOf(problem).slice(0, problemLength))
  const more = problems.length - told.length
  return new Mismatch({ reason: more > 0 ? `${told.join("; ")}; and ${more} more` : told.join("; ") })
}

/** `items.0.sku: Expected a string` */
const textOf = ({ message, path = [] }: SchemaProblem): string =>
  path.length === 0
    ? message
    : `${path.map((part) => String(typeof part === "object" ? part.key : part)).join(".")}: ${message}`
