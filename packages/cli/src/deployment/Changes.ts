/** Differences between the entry points of two builds. */
import type { EntryPoint, EntryPoints, Kind } from "./EntryPoints.ts"

export interface Change {
  readonly change: "added" | "removed" | "changed"
  readonly kind: Kind
  readonly name: string
  readonly fn: string
  /** Names of the changed settings; empty unless `change` is `changed`. */
  readonly fields: ReadonlyArray<string>
}

/** Lists changes in the order of the new build, then removals. Different code behind equal triggers is not a change. */
export const diffEntryPoints = (before: EntryPoints, after: EntryPoints): ReadonlyArray<Change> => {
  const old = new Map(before.map((entryPoint) => [toKey(entryPoint), entryPoint]))
  const kept = new Set(after.map(toKey))
  return [
    ...after.flatMap((entryPoint) => compare(old.get(toKey(entryPoint)), entryPoint)),
    ...before.filter((entryPoint) => !kept.has(toKey(entryPoint))).map((entryPoint) => toChange("removed", entryPoint))
  ]
}

const toKey = ({ kind, name }: EntryPoint): string => `${kind} ${name}`

const compare = (before: EntryPoint | undefined, after: EntryPoint): ReadonlyArray<Change> => {
  if (before === undefined) return [toChange("added", after)]
  const names = new Set([...Object.keys(before.terms), ...Object.keys(after.terms)])
  const fields = [...names].filter((name) => !isEqual(before.terms[name], after.terms[name]))
  if (before.fn !== after.fn) fields.unshift("function")
  return fields.length === 0 ? [] : [toChange("changed", after, fields)]
}

const toChange = (
  change: Change["change"],
  { kind, name, fn }: EntryPoint,
  fields: ReadonlyArray<string> = []
): Change => ({
  change,
  kind,
  name,
  fn,
  fields
})

/** Compares JSON values; the order of object fields does not matter. */
const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a, sortFields) === JSON.stringify(b, sortFields)

const sortFields = (_key: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
    : value
