/** What would be different if one build served instead of another. */
import type { Kind, Offer, Offered } from "./Offer.ts"

export interface Change {
  readonly change: "added" | "removed" | "changed"
  readonly kind: Kind
  readonly name: string
  readonly fn: string
  /** Which of its terms are different; empty unless it is changed. */
  readonly fields: ReadonlyArray<string>
}

/** In the order of the new offer, what is removed at the end. Code that changed behind the same triggers is none. */
export const changesOf = (before: Offer, after: Offer): ReadonlyArray<Change> => {
  const old = new Map(before.map((offered) => [keyOf(offered), offered]))
  const kept = new Set(after.map(keyOf))
  return [
    ...after.flatMap((offered) => changeOf(old.get(keyOf(offered)), offered)),
    ...before.filter((offered) => !kept.has(keyOf(offered))).map((offered) => said("removed", offered))
  ]
}

const keyOf = ({ kind, name }: Offered): string => `${kind} ${name}`

const changeOf = (before: Offered | undefined, after: Offered): ReadonlyArray<Change> => {
  if (before === undefined) return [said("added", after)]
  const names = new Set([...Object.keys(before.terms), ...Object.keys(after.terms)])
  const fields = [...names].filter((name) => !isSame(before.terms[name], after.terms[name]))
  if (before.fn !== after.fn) fields.unshift("function")
  return fields.length === 0 ? [] : [said("changed", after, fields)]
}

const said = (change: Change["change"], { kind, name, fn }: Offered, fields: ReadonlyArray<string> = []): Change => ({
  change,
  kind,
  name,
  fn,
  fields
})

/** Terms are JSON. The order of an object's fields is its author's matter. */
const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a, inOrder) === JSON.stringify(b, inOrder)

const inOrder = (_key: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
    : value
