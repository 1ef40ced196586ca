/** Rules for the requests of a durable run: how a wait ends, and how a replay differs from the record. Pure. */
import { Effect } from "effect"
import { type JsonText, toJsonText } from "../../foundation/JsonText.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import { HostCallRefused } from "../../platform/sandbox/Sandbox.ts"
import { childFailed, parseChildEnd } from "../runs/ChildRun.ts"
import type { RequestKind, StepRecord, WaitRecord } from "../runs/Workflow.ts"

/** Returns the result of a wait that has ended. Without an outcome, its time has come. */
export const resultOfWait = ({ kind, name, outcome }: WaitRecord): Pick<StepRecord, "ok" | "result"> => {
  switch (kind) {
    case "event":
      return { ok: true, result: outcome ?? toJsonText(null) }
    case "run":
      return parseChildEnd(
        outcome ?? childFailed("TimedOut", `the run "${name}" took longer than the timeout of svc.invoke`)
      )
    default:
      return { ok: true, result: null }
  }
}

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

/** Returns the record of a wait without an outcome. */
export const newWait = (
  { seq, kind, name }: Pick<WaitRecord, "seq" | "kind" | "name">,
  fields: Pick<WaitRecord, "since" | "until"> & Partial<WaitRecord>
): WaitRecord => ({
  ...{ seq, kind, name, attempts: 0, event_type: null, match: null, child_event_id: null, outcome: null },
  ...fields
})

export const tooLarge = (name: string, resultLength: number): JsonText =>
  toJsonText({
    name: "ResultTooLarge",
    message: `the result of the step "${name}" has over ${resultLength} characters of JSON: store it in svc.files and return its path`,
    stack: ""
  })

export const refuse = (name: string, message: string) => Effect.fail(new HostCallRefused({ name, message }))

/** Fails if a run with so many results may have no further one. */
export const checkLimit = (count: number, max: number): Effect.Effect<void, HostCallRefused> =>
  count < max ? Effect.void : refuse("LimitExceeded", `a run may have at most ${max} steps: use svc.continueAsNew`)
