/** The methods of `svc` that derive from the table of operations. */
import { Schema } from "effect"
import type { DerivedMethod, Parameter } from "./GuestFace.ts"
import { operations } from "./operations.ts"

export type DerivedOperation = Extract<(typeof operations)[number], { readonly guest: DerivedMethod }>

/** Arguments of a method whose payload is `Input`. */
type ArgumentsOf<Input, Parameters> = Parameters extends { readonly object: string }
  ? [input: Input]
  : Parameters extends readonly [infer First extends Parameter, ...infer Rest]
    ? First["is"] extends "string"
      ? [value: string, ...ArgumentsOf<Input, Rest>]
      : [value?: unknown, ...ArgumentsOf<Input, Rest>]
    : []

type MethodOf<Op extends DerivedOperation> = (
  ...args: ArgumentsOf<Op["input"]["Encoded"], Op["guest"]["parameters"]>
) => Promise<Op["output"]["Type"]>

type GroupOf<Name extends string> = {
  readonly [Op in DerivedOperation as Op["name"] extends `${Name}.${infer Method}` ? Method : never]: MethodOf<Op>
}

/** Methods by name, and groups of methods. */
export type SvcMethods = {
  readonly [Op in DerivedOperation as Op["name"] extends `${infer Group}.${string}`
    ? Group
    : Op["name"]]: Op["name"] extends `${infer Group}.${string}` ? GroupOf<Group> : MethodOf<Op>
}

/** An operation with a derived method, without the types of its values. */
export interface AnyDerivedOperation {
  readonly name: string
  readonly input: Schema.Codec<unknown, unknown>
  readonly output: Schema.Codec<unknown, unknown>
  readonly guest: DerivedMethod
}

/** All operations with derived methods. */
export const derivedOperations: ReadonlyArray<AnyDerivedOperation> = operations.filter(
  (operation): operation is DerivedOperation => "parameters" in operation.guest
)

/** True if the method resolves with nothing. */
export const returnsNothing = ({ output }: AnyDerivedOperation): boolean => output.ast === Schema.Void.ast
