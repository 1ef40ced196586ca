/**
 * Records of a durable run: the results that its function has received, and what it waits for.
 *
 * A durable function runs again from its first line after each suspension. It then receives the recorded results in their
 * order, so that it reaches the same point. See `docs/design/durable.md`.
 */
import { Schema } from "effect"
import { EventId } from "../../foundation/Ids.ts"
import { JsonText, toJsonText } from "../../foundation/JsonText.ts"
import { iso, Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Run } from "./Run.ts"

/** Kinds of requests that a durable function makes. `token` creates a token, `completion` waits for one. */
export const RequestKind = Schema.Literals([
  ...["step", "sleep", "event", "run", "token", "completion", "call", "version", "cancel", "stall"]
] as const)
export type RequestKind = typeof RequestKind.Type

/** True for kinds of requests whose results are secrets, which only the function receives. */
export const hasSecretResult = (kind: string): boolean => kind === "token"

/**
 * Position of a request in the order in which the function makes its requests, from 0. The same in each replay. Records
 * without a request have `cancelSeq` or `stallSeq`. A `version` has a number below them, because new code may ask for
 * versions that older records lack.
 */
const seq = Schema.Int

/** The `seq` of the step that records a cancellation with cleanup. */
export const cancelSeq = -1

/** The `seq` of the wait that counts activations without progress. */
export const stallSeq = -2

/** A result that the function received, or will receive next. Never changed. */
export const StepRecord = Schema.Struct({
  /** Position in the order in which the function received its results, from 0. */
  position: Schema.Int,
  seq,
  kind: RequestKind,
  name: Schema.String,
  /** False if the request failed. */
  ok: Schema.Boolean,
  /** The result; null for `undefined`. If `ok` is false, the error as `{name, message, stack}`. */
  result: Schema.NullOr(JsonText),
  attempts: Schema.Int,
  started_at: Timestamp,
  ended_at: Timestamp
})
export type StepRecord = typeof StepRecord.Type

/** Maximum result of a request, in characters of JSON text. */
export const resultLengthMax = 256 * 1024

/**
 * A request that may take long: a sleep, a pause between attempts, or a wait for an event, a child run or a token. Or a
 * `stall`: the pause after an activation without progress.
 */
export const WaitRecord = Schema.Struct({
  seq,
  kind: RequestKind,
  name: Schema.String,
  /** For `event`: its type. */
  event_type: Schema.NullOr(Schema.String),
  /** For `event`: pairs of a path into `event_data` and the required value, as JSON text. */
  match: Schema.NullOr(JsonText),
  /** For `run`: the event that starts the child run. It is stored after the wait. */
  child_event_id: Schema.NullOr(EventId),
  /** For `completion`: the `seq` of its token. */
  token_seq: Schema.NullOr(seq),
  /** For `step`: failed attempts so far. For `stall`: activations without progress in a row. */
  attempts: Schema.Int,
  since: Timestamp,
  until: Schema.NullOr(Timestamp),
  /**
   * The event once it has arrived, the completion of the token, or the end of the child run as `formatChildEnd`. Null before.
   */
  outcome: Schema.NullOr(JsonText)
})
export type WaitRecord = typeof WaitRecord.Type

/** A wait that has not ended, without the values that it compares events with. */
export type OpenWait = Omit<WaitRecord, "match" | "token_seq" | "outcome">

/** Everything that a durable function needs to continue. */
export interface History {
  /** Ascending by `position`. */
  readonly steps: ReadonlyArray<StepRecord>
  /** Ascending by `seq`. */
  readonly waits: ReadonlyArray<WaitRecord>
}

export const emptyHistory: History = { steps: [], waits: [] }

/** Kinds of waits of a suspended run. `retry` is the pause before the next attempt at a step. */
export const WaitingFor = Schema.Literals(["timer", "event", "retry", "token", "run", "node"])
export type WaitingFor = typeof WaitingFor.Type

/** The wait of a suspended run that ends first. */
export interface Waiting {
  readonly for: WaitingFor
  readonly name: string
  readonly since: Timestamp
  readonly until: Timestamp | null
}

/** Returns the field `waiting` of a run, as the API has it. */
export const formatWaiting = ({ since, until, ...waiting }: Waiting): JsonText =>
  toJsonText({ ...waiting, since: iso(since), until: until === null ? null : iso(until) })

/** JSON of the field `waiting`. */
const WaitingJson = Schema.Struct({
  for: WaitingFor,
  name: Schema.String,
  since: Schema.String,
  until: Schema.NullOr(Schema.String)
})
const decodeWaiting = Schema.decodeSync(Schema.fromJsonString(WaitingJson))

/** Parses the field `waiting` of a run. */
export const parseWaiting = (text: JsonText): Waiting => {
  const { since, until, ...waiting } = decodeWaiting(text)
  return { ...waiting, since: toInstant(since), until: until === null ? null : toInstant(until) }
}

const toInstant = (text: string): Timestamp => Timestamp.make(Date.parse(text))

/** A run that sleeps, and its wait. Such a wait can be ended early. */
export interface Sleeping {
  readonly kind: "sleep" | "step"
  readonly name: string
  readonly until: Timestamp
  readonly waiting: Waiting
}

/** Returns the sleep, or the pause before the next attempt at a step, that a suspended run waits for; null without one. */
export const findSleep = ({ status, waiting: text }: Pick<Run, "status" | "waiting">): Sleeping | null => {
  if (status !== "running" || text === null) return null
  const waiting = parseWaiting(text)
  const { name, until } = waiting
  if (until === null || (waiting.for !== "timer" && waiting.for !== "retry")) return null
  return { kind: waiting.for === "timer" ? "sleep" : "step", name, until, waiting }
}

/** Returns the number of recorded results after these steps. */
export const countSteps = (steps: ReadonlyArray<Pick<StepRecord, "position">>): number =>
  steps.reduce((count, { position }) => Math.max(count, position + 1), 0)

/** State of a run whose node died: the next claim continues it. */
export const lostNode = (now: Timestamp): Waiting => ({ for: "node", name: "", since: now, until: now })

/** Returns the wait that ends first as `Waiting`. Waits without an end come last. */
export const describeWaits = (waits: ReadonlyArray<WaitRecord>): Waiting | null => {
  const [first] = [...waits].sort(
    (a, b) => (a.until ?? Number.POSITIVE_INFINITY) - (b.until ?? Number.POSITIVE_INFINITY)
  )
  if (first === undefined) return null
  const { kind, name, since, until } = first
  return { for: waitingFor[kind], name, since, until }
}

/** Kinds of waits as the API names them. Calls, versions and cancellations do not wait. */
const waitingFor = {
  ...{ sleep: "timer", step: "retry", event: "event", run: "run" },
  ...{ token: "token", completion: "token" },
  ...{ call: "node", version: "node", cancel: "node", stall: "node" }
} as const satisfies Record<RequestKind, Waiting["for"]>
