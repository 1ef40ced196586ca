/**
 * The rule by which an event ends a wait: its type, its time, and equal values at paths into `event_data`. Pure.
 *
 * Stores index one pair of a wait. So an event probes a few keys, however many runs wait for its type.
 */
import type { JsonText } from "../../foundation/JsonText.ts"
import { isStorable } from "../../foundation/StorableText.ts"
import type { Event } from "../events/Event.ts"
import type { WaitRecord } from "./Workflow.ts"

/** A path into `event_data`, names separated by dots, and the required value as canonical JSON text. */
export type MatchPair = readonly [path: string, value: string]

/** Parses the `match` of a wait. */
const parseMatch = (match: JsonText | null): ReadonlyArray<MatchPair> => (match === null ? [] : JSON.parse(match))

/**
 * Place of a wait in the index of a store. An event ends only waits whose key is `keyInEvent` for one of the event's values,
 * or `anyEvent`.
 */
export interface MatchKey {
  readonly path: string
  /** The first characters of the value, because databases limit the size of index entries. */
  readonly value: string
}

/** Maximum characters of a path and of a value in a key. */
const keyLengthMax = 200

/** Key of a wait whose pairs cannot be indexed, or that has none. */
const anyEvent: MatchKey = { path: "", value: "" }

/** Returns the key of a wait: its first pair with a path that an index can hold. */
export const keyOfMatch = (match: JsonText | null): MatchKey => {
  const pair = parseMatch(match).find(([path]) => path.length <= keyLengthMax && isStorable(path))
  return pair === undefined ? anyEvent : toKey(pair)
}

/** Returns the key of waits at `path` that event data may end; undefined if none can match. */
export const keyInEvent = (data: unknown, path: string): MatchKey | undefined => {
  if (path === "") return anyEvent
  const value = readPath(data, path)
  return value === undefined ? undefined : toKey([path, value])
}

const toKey = ([path, value]: MatchPair): MatchKey => ({ path, value: value.slice(0, keyLengthMax).toWellFormed() })

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

/** The fields of a wait that decide. */
type AwaitingRecord = Pick<WaitRecord, "event_type" | "match" | "since" | "until" | "outcome">

/** True if the event ends the wait. `data` is the parsed `event_data`. */
export const isAwaited = (
  { event_type, match, since, until, outcome }: AwaitingRecord,
  event: Event,
  data: unknown
): boolean =>
  outcome === null &&
  event_type === event.event_type &&
  since <= event.created_at &&
  (until === null || event.created_at <= until) &&
  parseMatch(match).every(([path, value]) => readPath(data, path) === value)
