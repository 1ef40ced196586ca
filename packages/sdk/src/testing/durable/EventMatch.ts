/** The rule by which an event ends a wait: the same as in the runtime. */
import type { Event } from "../../Event.ts"

/** A path into `event_data`, and the required value as canonical JSON text. */
export type MatchPair = readonly [path: string, value: string]

export interface AwaitedEvent {
  readonly type: string
  readonly match: ReadonlyArray<MatchPair>
  /** Earliest and latest time of the event, in milliseconds since 1970. */
  readonly since: number
  readonly until: number | null
}

/** True if the event ends the wait. */
export const isAwaited = ({ type, match, since, until }: AwaitedEvent, event: Event): boolean => {
  const created = Date.parse(event.created_at)
  return (
    type === event.event_type &&
    since <= created &&
    (until === null || created <= until) &&
    match.every(([path, value]) => readPath(event.event_data, path) === value)
  )
}

/** Returns the value at a path as canonical JSON text; undefined without one. */
const readPath = (data: unknown, path: string): string | undefined => {
  let value = data
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined
    value = Reflect.get(value, name)
  }
  return value === undefined ? undefined : canonicalJson(value)
}

/** Returns JSON text with the keys of objects in ascending order, so that equal values have equal texts. */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null"
  const entries = Object.entries(value).filter(([, member]) => member !== undefined)
  entries.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(",")}}`
}
