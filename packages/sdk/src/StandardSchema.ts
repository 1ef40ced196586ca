/**
 * Types of Standard Schema (https://standardschema.dev), from `@standard-schema/spec` 1.1. They are copied, so that
 * authors need not install that package.
 *
 * Copyright (c) 2024 Colin McDonnell, MIT License. Permission is granted, free of charge, to deal in the Software
 * without restriction, provided that this notice is included. The Software is provided "as is", without warranty.
 */

/** A schema of zod, valibot, Effect or any other library that implements the standard. */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    readonly validate: (value: unknown) => Validation<Output> | Promise<Validation<Output>>
  }
}

/** Result of a validation: a value, or its issues. */
export type Validation<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: ReadonlyArray<Issue> }

export interface Issue {
  readonly message: string
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined
}

/** A schema that can also be converted to JSON Schema. */
export interface StandardJSONSchemaV1 {
  readonly "~standard": {
    readonly jsonSchema: {
      readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>
    }
  }
}

/** Input type of the schema. */
export type InferInput<Schema extends StandardSchemaV1> = NonNullable<Schema["~standard"]["types"]>["input"]

/** Output type of the schema. */
export type InferOutput<Schema extends StandardSchemaV1> = NonNullable<Schema["~standard"]["types"]>["output"]

/** Placeholder for a missing schema. */
export type Unchecked = StandardSchemaV1<unknown, unknown>
