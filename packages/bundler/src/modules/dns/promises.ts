/** `node:dns/promises`: addresses of names, within the policy of `fetch`. */
import * as constants from "./constants.ts"
import {
  familyOfNothing,
  getDefaultResultOrder,
  type LookupAddress,
  type LookupOptions,
  lookupAll,
  readLookupOptions,
  resolveFamily,
  resolveType,
  setDefaultResultOrder
} from "./lookups.ts"
import * as refused from "./refused.ts"
import { makeResolver } from "./resolver.ts"

export * from "./constants.ts"
export * from "./refused.ts"
export { getDefaultResultOrder, setDefaultResultOrder }

/** Returns the first address, or with `all` every one. */
export const lookup = async (
  name: unknown,
  given?: LookupOptions | LookupOptions["family"]
): Promise<LookupAddress | ReadonlyArray<LookupAddress> | { readonly address: null; readonly family: 4 | 6 }> => {
  const options = readLookupOptions(given)
  const found = await lookupAll(name, options)
  return options.all === true ? found : (found[0] ?? { address: null, family: familyOfNothing(options) })
}

export const resolve = resolveType
export const resolve4 = (name: unknown, options?: { readonly ttl?: boolean }) => resolveFamily(4, name, options)
export const resolve6 = (name: unknown, options?: { readonly ttl?: boolean }) => resolveFamily(6, name, options)

const methods = { ...refused, resolve, resolve4, resolve6 }

export const Resolver = makeResolver(methods)

export default {
  ...constants,
  ...methods,
  lookup,
  Resolver,
  getDefaultResultOrder,
  setDefaultResultOrder
}
