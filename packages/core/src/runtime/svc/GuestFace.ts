/**
 * The method of `svc` that makes a host call.
 *
 * The guest's code, the SDK's types and the test kit are generated from it, and the trusted sandbox interprets it.
 */
import { Schema } from "effect"

/**
 * An argument of a method, and the field of the payload that contains it.
 *
 * - `string`: required
 * - `value`: any JSON value, null by default
 * - `arguments`: a list; a single value becomes a list of one, and none an empty list
 */
export interface Parameter {
  readonly name: string
  readonly is: "string" | "value" | "arguments"
}

/** A method whose code is derived. */
export interface DerivedMethod {
  /** The docstring for authors of functions. */
  readonly doc: string
  /** Arguments that are fields of the payload; or the name of the only argument, an object that is the payload. */
  readonly parameters: ReadonlyArray<Parameter> | { readonly object: string }
  /** Expected arguments, in the error for others: `svc.<name> takes <takes>`. */
  readonly takes: string
  /** Type parameters and parameters in the SDK, if they are more precise than the input schema. */
  readonly signature?: string
  /** Names of the exported types of the SDK: of the only argument, and of the result. */
  readonly types?: { readonly input?: string; readonly output?: string }
}

/** A method whose code is written by hand, for this reason. */
export interface HandWrittenMethod {
  readonly handWritten: string
}

export type GuestFace = DerivedMethod | HandWrittenMethod

/** JSON of a guest. Its encoded type is `unknown`, so that methods accept any value that JSON can represent. */
export const GuestJson: Schema.Codec<Schema.Json, unknown> = Schema.Json
