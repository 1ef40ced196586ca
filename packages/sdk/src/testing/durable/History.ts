/** Records of a durable run: results that its function has received, and waits that have not ended. */
import type { AwaitedEvent } from "./EventMatch.ts"

/**
 * Kinds of requests. `waiting` is the reason of the wait in the field `waiting` of a run. `atTimeout` is the JSON text of the
 * result when its time ends. `cancel` is a cancellation with cleanup, which no request precedes. A `version` does not wait.
 */
export const requestKinds = {
  step: { waiting: "retry", atTimeout: null },
  sleep: { waiting: "timer", atTimeout: null },
  event: { waiting: "event", atTimeout: "null" },
  token: { waiting: "token", atTimeout: null },
  completion: { waiting: "token", atTimeout: '{"ok":false,"reason":"timeout"}' },
  run: { waiting: "run", atTimeout: null },
  call: { waiting: "run", atTimeout: null },
  version: { waiting: "timer", atTimeout: null },
  cancel: { waiting: "timer", atTimeout: null }
} as const

export type RequestKind = keyof typeof requestKinds

export interface RequestName {
  readonly kind: RequestKind
  readonly name: string
}

/** The end of a request. `text` is JSON, null for `undefined`. If `ok` is false, it is `{"name", "message", "stack"}`. */
export interface Settled {
  readonly ok: boolean
  readonly text: string | null
}

/** A result that the function has received. */
export interface RecordedResult extends RequestName, Settled {
  /** Position in the order in which the function received its results, from 0. */
  readonly position: number
  /** Position of the request in the order in which the function makes its requests, from 0. */
  readonly seq: number
  readonly attempts: number
  readonly startedAt: number
  readonly endedAt: number
}

/** A request that may take long. Times are in milliseconds since 1970. */
export interface Wait extends RequestName {
  readonly seq: number
  /** For steps: failed attempts so far. */
  readonly attempts: number
  readonly since: number
  readonly until: number | null
  /** For `event`. */
  readonly event: AwaitedEvent | null
  /** For `completion`: the text of what is completed. */
  readonly completionOf: string | null
  /** Set when the wait has ended before its time. */
  outcome: Settled | null
}

export const hasEnded = ({ until, outcome }: Wait, now: number): boolean =>
  outcome !== null || (until !== null && until <= now)

/** A result in the form of `kit.history()`. */
export interface HistoryEntry {
  readonly position: number
  readonly seq: number
  readonly kind: string
  readonly name: string
  readonly attempts: number
  readonly started_at: string
  readonly ended_at: string
  /** The result; absent for `undefined` and for errors. */
  readonly result?: unknown
  readonly error?: { readonly name: string; readonly message: string }
}

/** The wait of a suspended run that ends first, as the API returns it. */
export interface Waiting {
  readonly for: string
  readonly name: string
  readonly since: string
  readonly until: string | null
}

export const toEntry = ({ position, seq, kind, name, ok, text, ...more }: RecordedResult): HistoryEntry => {
  const { attempts, startedAt, endedAt } = more
  const entry = { position, seq, kind, name, attempts, started_at: iso(startedAt), ended_at: iso(endedAt) }
  if (ok) return text === null ? entry : { ...entry, result: JSON.parse(text) }
  const error: { readonly name: string; readonly message: string } = JSON.parse(text ?? "{}")
  return { ...entry, error: { name: error.name, message: error.message } }
}

/** Returns the wait that ends first. Waits without an end come last. */
export const describeWaits = (waits: Iterable<Wait>): Waiting | null => {
  const [first] = [...waits].sort((a, b) => (a.until ?? Infinity) - (b.until ?? Infinity))
  if (first === undefined) return null
  const { kind, name, since, until } = first
  return {
    for: requestKinds[kind].waiting,
    name,
    since: iso(since),
    until: until === null ? null : iso(until)
  }
}

export const describeRequest = (request: RequestName | undefined): string =>
  request === undefined ? "unknown" : `${request.kind} ${JSON.stringify(request.name)}`

export const iso = (time: number): string => new Date(time).toISOString()
