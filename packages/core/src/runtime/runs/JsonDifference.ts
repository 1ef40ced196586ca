/** The first difference of two JSON values. The order of the names in an object does not matter. */
import { Predicate } from "effect"

export interface JsonDifference {
  /** Path of the value, such as `items[2].total`; empty for the whole value. */
  readonly path: string
  /** Undefined if the value is missing. */
  readonly recorded: unknown
  readonly replayed: unknown
}

/** Returns the first difference, or null if the values are equal. */
export const findDifference = (recorded: unknown, replayed: unknown, path = ""): JsonDifference | null => {
  if (recorded === replayed) return null
  if (Array.isArray(recorded) && Array.isArray(replayed)) {
    return findFirst(Math.max(recorded.length, replayed.length), (index) =>
      findDifference(recorded[index], replayed[index], `${path}[${index}]`)
    )
  }
  if (!Predicate.isReadonlyObject(recorded) || !Predicate.isReadonlyObject(replayed))
    return { path, recorded, replayed }
  const names = [...new Set([...Object.keys(recorded), ...Object.keys(replayed)])]
  return findFirst(names.length, (index) => {
    const name = names[index] ?? ""
    return findDifference(readOwn(recorded, name), readOwn(replayed, name), path === "" ? name : `${path}.${name}`)
  })
}

const findFirst = (count: number, find: (index: number) => JsonDifference | null): JsonDifference | null => {
  for (let index = 0; index < count; index++) {
    const found = find(index)
    if (found !== null) return found
  }
  return null
}

const readOwn = (value: { readonly [name: PropertyKey]: unknown }, name: string): unknown =>
  Object.hasOwn(value, name) ? value[name] : undefined
