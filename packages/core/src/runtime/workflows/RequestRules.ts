/** Rules for the requests of a durable run: how a wait ends, and how a replay differs from the record. Pure. */
import type { EventId } from "../../foundation/Ids.ts"
import { type JsonText, toJsonText } from "../../foundation/JsonText.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import { childFailed, parseChildEnd } from "../runs/ChildRun.ts"
import { isTooLargeOutcome } from "../runs/EventMatch.ts"
import { type RequestKind, resultLengthMax, type StepRecord, type WaitRecord } from "../runs/Workflow.ts"
import { formatError } from "./RequestErrors.ts"
import type { WaitRequest } from "./Requests.ts"

type Pause = Pick<WaitRecord, "seq" | "name" | "attempts"> & { readonly until: Timestamp }

/** Returns the wait until the next attempt at a step. */
export const toPause = ({ seq, name, attempts, until }: Pause, since: Timestamp): WaitRecord => ({
  ...{ seq, kind: "step", name, attempts, since, until },
  ...{ event_type: null, match: null, child_event_id: null, token_seq: null, outcome: null }
})

/** Returns the wait of a request. */
export const toWait = (request: WaitRequest, since: Timestamp, child_event_id: EventId | null): WaitRecord => {
  const { seq, kind, name, event_type, token_seq, until, match } = request
  return {
    ...{ seq, kind, name, event_type, child_event_id, token_seq, since, until, attempts: 0, outcome: null },
    match: match.length === 0 ? null : toJsonText(match)
  }
}

/** Returns the result of a wait that has ended. */
export const toEnd = (wait: WaitRecord, now: Timestamp): Omit<StepRecord, "position"> => {
  const { seq, kind, name, since, attempts } = wait
  const times = { attempts: Math.max(1, attempts), started_at: since, ended_at: now }
  return { seq, kind, name, ...resultOf(wait), ...times }
}

/** Returns the result of a wait. Without an outcome, its time has come. */
const resultOf = ({ kind, name, outcome }: WaitRecord): Pick<StepRecord, "ok" | "result"> => {
  switch (kind) {
    case "event":
      return isTooLargeOutcome(outcome)
        ? { ok: false, result: eventTooLarge(name) }
        : { ok: true, result: outcome ?? toJsonText(null) }
    case "run":
      return parseChildEnd(
        outcome ?? childFailed("TimedOut", `the run "${name}" took longer than the timeout of svc.invoke`)
      )
    default:
      return { ok: true, result: outcome }
  }
}

const eventTooLarge = (name: string): JsonText =>
  formatError(
    "ResultTooLarge",
    `the event of the wait "${name}" has over ${resultLengthMax} characters of JSON: store its data in svc.files and pass the path`
  )

/** True if only its time ends the wait, and no event, child run or token. */
export const endsByTime = ({ event_type, child_event_id, token_seq }: WaitRecord): boolean =>
  event_type === null && child_event_id === null && token_seq === null

export const hasEnded = ({ until, outcome }: WaitRecord, now: Timestamp): boolean =>
  outcome !== null || (until !== null && until <= now)

/** Returns the end of the wait that ends first; null if none has an end. */
export const earliestEnd = (waits: ReadonlyArray<WaitRecord>): Timestamp | null =>
  waits.reduce<Timestamp | null>(
    (least, { until }) => (until === null || (least !== null && least <= until) ? least : until),
    null
  )

interface Request {
  readonly kind: RequestKind
  readonly name: string
}

/** Returns how a request differs from the recorded wait of its number; null if it is the same, or none is recorded. */
export const describeDifference = (before: WaitRecord | undefined, now: Request): string | null =>
  before === undefined || (before.kind === now.kind && before.name === now.name)
    ? null
    : `request ${before.seq} was ${describe(before)} when it was recorded and is ${describe(now)} now`

const describe = ({ kind, name }: Request): string => `${kind} "${name}"`
