/** Rules of recorded results, by the kind of their request. */
import { type Event, EventValues, isAwaited, type StepRecord, type WaitRecord } from "@weft/core/adapter"
import { bodyFailure, signalType } from "./Flow.ts"
import type { FlowRules, NamedRequest } from "./Plan.ts"

/** A recorded result with its circumstances. Times in elapsed milliseconds. */
export interface RecordedResult {
  readonly request: NamedRequest
  readonly step: StepRecord
  readonly rules: FlowRules
  /** The stored wait that the result ends; null without one. */
  readonly wait: WaitRecord | null
  /** The event that the store had given to the wait before. */
  readonly outcome: string | null
  readonly bodies: ReadonlyArray<{ readonly attempt: number; readonly result: string }>
  /** Time at which the function first made the request. */
  readonly requestedAt: number
  readonly now: number
  readonly slackMs: number
  readonly signals: ReadonlyArray<StoredSignal>
}

interface StoredSignal {
  readonly event: Event
  readonly storedAt: number
}

/** Returns the broken rules, as ends of sentences. */
export const checkResult = (recorded: RecordedResult): ReadonlyArray<string> => {
  const { request, step } = recorded
  if (step.kind !== request.kind) return [`has the kind ${request.kind}`]
  switch (request.kind) {
    case "step":
      return checkStep(recorded, request)
    case "sleep":
      return checkEnd(recorded, request.ms)
    case "event":
      return checkEvent(recorded, request)
  }
}

const rules = (...all: ReadonlyArray<readonly [isSo: boolean, rule: string]>): ReadonlyArray<string> =>
  all.flatMap(([isSo, rule]) => (isSo ? [] : [rule]))

const checkStep = (
  { step, bodies, rules: { attempts } }: RecordedResult,
  { fails }: Extract<NamedRequest, { kind: "step" }>
): ReadonlyArray<string> => {
  if (step.ok) {
    return rules(
      [
        bodies.some(({ attempt, result }) => attempt > fails && JSON.stringify(result) === step.result),
        `is one that a body returned (got ${step.result})`
      ],
      [step.attempts > fails, `follows ${fails} failed attempts (got ${step.attempts})`]
    )
  }
  return rules(
    [step.result?.includes(bodyFailure) === true, `is the error of its body (got ${step.result})`],
    [step.attempts === attempts, `fails after all ${attempts} attempts (got ${step.attempts})`],
    [fails >= attempts, `fails only if all attempts fail`]
  )
}

/** Checks that a wait did not end early. */
const checkEnd = ({ step, wait, requestedAt, now, slackMs }: RecordedResult, ms: number): ReadonlyArray<string> => {
  const earlyMs = Math.floor(requestedAt) + ms - now
  return rules(
    [wait?.until === undefined || wait.until === null || step.ended_at >= wait.until, "ends at the end of its wait"],
    // Nodes have whole milliseconds.
    [earlyMs <= slackMs + 1, `ends after ${ms} ms (got ${earlyMs} ms earlier)`]
  )
}

const checkEvent = (
  recorded: RecordedResult,
  { key, timeout }: Extract<NamedRequest, { kind: "event" }>
): ReadonlyArray<string> => {
  const { step, wait, outcome, signals, now, slackMs } = recorded
  if (step.result === null || step.result === "null") {
    const lost = findLost(recorded)
    return [
      ...(timeout === null ? ["has an event, because it has no timeout"] : checkEnd(recorded, timeout)),
      ...rules([
        lost === undefined,
        `is the event ${lost?.event.event_id}, stored ${now - (lost?.storedAt ?? 0)} ms ago`
      ])
    ]
  }
  const { event_id }: { readonly event_id: string } = JSON.parse(step.result)
  const event = signals.find((one) => one.event.event_id === event_id)?.event
  if (event === undefined) return [`is a stored event (got ${event_id})`]
  const { key: found }: { readonly key?: string } = JSON.parse(event.event_data)
  return rules(
    [outcome === step.result, "is the event that the store gave to its wait"],
    [event.event_type === signalType && found === key, `has the key ${key} (got ${event.event_type} ${found})`],
    [wait === null || event.created_at >= wait.since, "was published after the wait began"],
    [wait === null || wait.until === null || event.created_at <= wait.until + slackMs, "was published in time"]
  )
}

/** Returns an event that was stored before the wait ended, and that the wait should have received. */
const findLost = ({ wait, requestedAt, request, slackMs, signals }: RecordedResult): StoredSignal | undefined => {
  if (wait === null || request.kind !== "event" || request.timeout === null) return undefined
  const endsAt = requestedAt + request.timeout - slackMs
  const open = { ...wait, outcome: null }
  return signals.find(({ event, storedAt }) => storedAt < endsAt && isAwaited(open, event, new EventValues(event)))
}
