import { defineProperty, isArray } from "./primordials.ts"

/** Returns a list of arguments: an array itself, any other value as its only element, and none for `undefined`. */
export const toArguments = (args: unknown): ReadonlyArray<unknown> =>
  args === undefined ? [] : isArray(args) ? args : [args]

/** Returns the arguments of a durable function that is called by its name: at least one, then `svc`. */
export const appendSvc = (args: ReadonlyArray<unknown>, svc: unknown): ReadonlyArray<unknown> => {
  const list: Array<unknown> = []
  const count = args.length === 0 ? 1 : args.length
  // Own properties, so that no setter of the guest is called.
  const set = (at: number, value: unknown) =>
    defineProperty(list, at, { value, writable: true, enumerable: true, configurable: true })
  for (let at = 0; at < count; at++) set(at, args[at])
  set(count, svc)
  return list
}
