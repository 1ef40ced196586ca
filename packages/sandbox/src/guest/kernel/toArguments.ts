import { isArray } from "./primordials.ts"

/** Returns a list of arguments: an array itself, any other value as its only element, and none for `undefined`. */
export const toArguments = (args: unknown): ReadonlyArray<unknown> =>
  args === undefined ? [] : isArray(args) ? args : [args]
