/**
 * What schema libraries agree on (https://standardschema.dev): the types of `@standard-schema/spec` 1.1 as far as they
 * are used here, so that nothing has to be installed for them.
 *
 * Copyright (c) 2024 Colin McDonnell, under the MIT License: permission is granted, free of charge, to deal in the
 * Software without restriction, provided that this notice is included; it comes as is, without warranty of any kind.
 */

/** A schema of zod, valibot, Effect or any other library that knows the standard. */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    readonly validate: (value: unknown) => Validation<Output> | Promise<Validation<Output>>
  }
}

/** What a check came to: a value, or what is wrong with it. */
export type Validation<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: ReadonlyArray<Issue> }

export interface Issue {
  readonly message: string
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined
}

/** A schema that can also say itself as JSON Schema. */
export interface StandardJSONSchemaV1 {
  readonly "~standard": {
    readonly jsonSchema: {
      readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>
    }
  }
}

/** What the schema takes. */
export type InferInput<Schema extends StandardSchemaV1> = NonNullable<Schema["~standard"]["types"]>["input"]

/** What the schema makes of it. */
export type InferOutput<Schema extends StandardSchemaV1> = NonNullable<Schema["~standard"]["types"]>["output"]

/** Stands for the schema where there is none. */
export type Unchecked = StandardSchemaV1<unknown, unknown>
