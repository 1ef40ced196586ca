/**
 * The rule by which an event ends a wait: its type, its time, and equal values at paths into `event_data`. Pure.
 *
 * Stores index one pair of a wait. So an event probes a few keys, however many runs wait for its type.
 */
import { JsonText } from "../../foundation/JsonText.ts"
import { isStorable } from "../../foundation/StorableText.ts"
import type { Event } from "../events/Event.ts"
import { formatEvent } from "./Trigger.ts"
import { resultLengthMax, type WaitRecord } from "./Workflow.ts"

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

/** Returns the key of waits at `path` that the event may end; undefined if none can match. */
export const keyInEvent = (values: EventValues, path: string): MatchKey | undefined => {
  if (path === "") return anyEvent
  const value = values.read(path)
  return value === null ? undefined : toKey([path, value])
}

const toKey = ([path, value]: MatchPair): MatchKey => ({ path, value: value.slice(0, keyLengthMax).toWellFormed() })

/** Maximum cached texts of an event, which has many more values than waits usually read. */
const cachedTextsMax = 1_000

/** The values of an event at the paths of waits. Each is formatted once, because any number of waits may read it. */
export class EventValues {
  readonly #data: unknown
  readonly #texts = new Map<string, string | null>()

  constructor({ event_data }: Pick<Event, "event_data">) {
    this.#data = JSON.parse(event_data)
  }

  /** Returns the value at a path as canonical JSON text; null without one, or if it is longer than a wait can require. */
  read(path: string): string | null {
    const known = this.#texts.get(path)
    if (known !== undefined) return known
    const value = readPath(this.#data, path)
    const text = value === undefined ? null : canonicalJson(value)
    if (this.#texts.size >= cachedTextsMax) this.#texts.clear()
    this.#texts.set(path, text)
    return text
  }
}

/** Returns the value at a path; undefined without one. */
const readPath = (data: unknown, path: string): unknown => {
  let value = data
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined
    value = Reflect.get(value, name)
  }
  return value
}

/** Maximum characters of a path and its required value together. */
export const pairLengthMax = 1024

/**
 * Returns JSON text with the keys of objects in ascending order, so that equal values have equal texts. Null if it has more
 * than `pairLengthMax` characters. It stops there, so the size and depth of hostile values do not matter.
 */
export const canonicalJson = (value: unknown): string | null => writeCanonical(value, pairLengthMax)

/** Returns canonical JSON text of at most `length` characters; null for longer ones. */
const writeCanonical = (value: unknown, length: number): string | null => {
  if (typeof value !== "object" || value === null) {
    if (typeof value === "string" && value.length > length) return null
    const text = JSON.stringify(value) ?? "null"
    return text.length > length ? null : text
  }
  const isArray = Array.isArray(value)
  const keys = isArray ? [] : Object.keys(value)
  // A member has at least one character, and a comma.
  if (2 * (isArray ? value.length : keys.length) > length) return null
  const members = isArray
    ? value.map((member: unknown) => ["", member] as const)
    : keys.sort().map((key) => [`${JSON.stringify(key)}:`, Reflect.get(value, key)] as const)
  let text = isArray ? "[" : "{"
  for (const [prefix, member] of members) {
    if (member === undefined && !isArray) continue
    text += text.length === 1 ? prefix : `,${prefix}`
    // One character remains for the bracket.
    const part = writeCanonical(member, length - text.length - 1)
    if (part === null) return null
    text += part
  }
  return text.length < length ? text + (isArray ? "]" : "}") : null
}

/** Outcome of a wait whose event is longer than the result of a request may be. Each of its runs would have a copy of the event. */
const tooLargeOutcome = JsonText.make('"too large"', { disableChecks: true })

/** Returns the event as the outcome of the waits that it ends. */
export const formatOutcome = (event: Event): JsonText => {
  const text = event.event_data.length > resultLengthMax ? tooLargeOutcome : formatEvent(event)
  return text.length > resultLengthMax ? tooLargeOutcome : text
}

/** True if the event of the outcome was too large. */
export const isTooLargeOutcome = (outcome: JsonText | null): boolean => outcome === tooLargeOutcome

/** The fields of a wait that decide. */
export type AwaitingRecord = Pick<WaitRecord, "event_type" | "match" | "since" | "until" | "outcome">

/** True if the event, which has these values, ends the wait. */
export const isAwaited = (
  { event_type, match, since, until, outcome }: AwaitingRecord,
  event: Event,
  values: EventValues
): boolean =>
  outcome === null &&
  event_type === event.event_type &&
  since <= event.created_at &&
  (until === null || event.created_at <= until) &&
  parseMatch(match).every(([path, value]) => values.read(path) === value)
