/** Rules for the requests of a durable run: when a wait ends, and how a replay differs from the record. Pure. */
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { RequestKind, WaitRecord } from "../runs/Workflow.ts"

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
