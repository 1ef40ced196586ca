/** Rules about waits and about differences between a request and its record. Pure. */
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { RequestKind, WaitRecord } from "../runs/Workflow.ts"

/** True if the wait has an outcome, or if its time has come. */
export const hasEnded = ({ until, outcome }: WaitRecord, now: Timestamp): boolean =>
  outcome !== null || (until !== null && until <= now)

/** Returns the end of the wait that ends first; null without any. */
export const earliest = (waits: ReadonlyArray<WaitRecord>): Timestamp | null =>
  waits.reduce<Timestamp | null>(
    (least, { until }) => (until === null || (least !== null && least <= until) ? least : until),
    null
  )

interface Request {
  readonly kind: RequestKind
  readonly name: string
}

export const describeDifference = (seq: number, before: Request, now: Request): string =>
  `request ${seq} was ${describe(before)} when it was recorded and is ${describe(now)} now`

const describe = ({ kind, name }: Request): string => `${kind} "${name}"`
