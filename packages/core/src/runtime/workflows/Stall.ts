/**
 * Rules for activations that end without progress. Pure.
 *
 * A run continues after the loss of its runner. If that happens again and again without a new record, the pauses grow, and
 * the run fails with `NoProgress`. A wait with the `seq` of stalls counts them, so other runs pay nothing.
 */
import { addMillis, type Timestamp } from "../../foundation/time/Timestamp.ts"
import type { Outcome } from "../../platform/sandbox/Outcome.ts"
import { type History, stallSeq, type WaitRecord } from "../runs/Workflow.ts"
import type { Activation } from "./Activation.ts"

/** Activations without progress in a row after which the run fails. */
const stallsMax = 8

/** Pause after the first activation without progress, in milliseconds. It doubles with each further one. */
const firstDelayMs = 1_000

/** First pause if the build is under quarantine, in milliseconds. */
const quarantineDelayMs = 60_000

const delayMaxMs = 300_000

interface StalledActivation {
  readonly outcome: Outcome
  readonly activation: Pick<Activation, "hasProgress" | "isLive">
  /** History at the start of the activation. */
  readonly history: History
  readonly now: Timestamp
}

type NextActivation =
  | { readonly _tag: "Paused"; readonly delayMs: number; readonly wait: WaitRecord | null }
  | { readonly _tag: "Over"; readonly outcome: Outcome }

/** Returns whether and when the run continues after the outcome of an activation. */
export const afterStall = ({ outcome, activation, history, now }: StalledActivation): NextActivation => {
  const isLost = outcome._tag === "RunnerLost" || outcome._tag === "Quarantined"
  const isExhausted = outcome._tag === "CpuExhausted" || outcome._tag === "OutOfMemory"
  const isInReplay = !activation.isLive && history.steps.length > 0
  if (!isLost && !(isExhausted && isInReplay)) return { _tag: "Over", outcome }
  const firstMs = outcome._tag === "Quarantined" ? quarantineDelayMs : firstDelayMs
  if (activation.hasProgress) return { _tag: "Paused", delayMs: firstMs, wait: null }
  const name = describeProgress(history)
  const before = history.waits.find(({ seq }) => seq === stallSeq)
  const stalls = (before?.name === name ? before.attempts : 0) + 1
  if (stalls >= stallsMax) return { _tag: "Over", outcome: noProgress(stalls, outcome) }
  const delayMs = Math.min(firstMs * 2 ** (stalls - 1), delayMaxMs)
  const wait: WaitRecord = {
    ...{ seq: stallSeq, kind: "stall", name, event_type: null, match: null, child_event_id: null, token_seq: null },
    ...{ attempts: stalls, since: now, until: addMillis(now, delayMs), outcome: null }
  }
  return { _tag: "Paused", delayMs, wait }
}

/** Returns a text that differs after any progress. */
const describeProgress = ({ steps, waits }: History): string =>
  `${steps.length} results, ${waits.filter(({ seq }) => seq >= 0).length} waits`

const noProgress = (stalls: number, outcome: Outcome): Outcome => {
  const cause = "message" in outcome ? `${outcome._tag}: ${outcome.message}` : outcome._tag
  const message = `${stalls} activations in a row ended before they recorded a result, the last one with ${cause}`
  return { _tag: "Threw", name: "NoProgress", message, stack: "" }
}
