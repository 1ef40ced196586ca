/** `node:dns`: addresses of names, within the policy of `fetch`. */
import promises from "node:dns/promises"
import * as constants from "./dns/constants.ts"
import {
  familyOfNothing,
  getDefaultResultOrder,
  lookupAll,
  readLookupOptions,
  resolveFamily,
  resolveType,
  setDefaultResultOrder
} from "./dns/lookups.ts"
import * as refused from "./dns/refused.ts"
import { makeResolver } from "./dns/resolver.ts"

export * from "./dns/constants.ts"
export * from "./dns/refused.ts"
export { getDefaultResultOrder, promises, setDefaultResultOrder }

type Done = (error: unknown, ...results: ReadonlyArray<unknown>) => void

const isDone = (value: unknown): value is Done => typeof value === "function"

const requireDone = (value: unknown): Done => {
  if (isDone(value)) return value
  throw Object.assign(new TypeError('The "callback" argument must be of type function'), {
    code: "ERR_INVALID_ARG_TYPE"
  })
}

/** Calls back with the results. An error of the callback itself is thrown by a timer, as an uncaught exception. */
const callBack = <A>(result: Promise<A>, done: Done, spread: (value: A) => ReadonlyArray<unknown>): void => {
  result.then(
    (value) => setTimeout(() => done(null, ...spread(value)), 0),
    (error: unknown) => setTimeout(() => done(error), 0)
  )
}

/** `lookup(name, options?, callback)`: the callback receives an address and its family, or with `all` every one. */
export const lookup = (name: unknown, ...given: ReadonlyArray<unknown>): void => {
  const done = requireDone(given.at(-1))
  const options = readLookupOptions(given[0] === done ? undefined : given[0])
  callBack(lookupAll(name, options), done, (found) =>
    options.all === true ? [found] : [found[0]?.address ?? null, found[0]?.family ?? familyOfNothing(options)]
  )
}

const single = <A>(value: A): ReadonlyArray<A> => [value]

export const resolve = (name: unknown, ...given: ReadonlyArray<unknown>): void => {
  const done = requireDone(given.at(-1))
  callBack(resolveType(name, given[0] === done ? "A" : given[0]), done, single)
}

const resolveAs =
  (family: 4 | 6) =>
  (name: unknown, ...given: ReadonlyArray<unknown>): void => {
    const done = requireDone(given.at(-1))
    const [options] = given
    callBack(resolveFamily(family, name, typeof options === "object" && options !== null ? options : {}), done, single)
  }

export const resolve4 = resolveAs(4)
export const resolve6 = resolveAs(6)

const methods = { ...refused, resolve, resolve4, resolve6 }

export const Resolver = makeResolver(methods)

export default {
  ...constants,
  ...methods,
  lookup,
  promises,
  Resolver,
  getDefaultResultOrder,
  setDefaultResultOrder
}
