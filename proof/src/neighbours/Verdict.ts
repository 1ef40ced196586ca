/** Judges the measurement of a shape by the bar. Pure. */
import type { Sample } from "./Messages.ts"
import type { ServerFigures } from "./ServerWatch.ts"
import type { Shape } from "./Shape.ts"

/** Limits of the innocent tenant's webhook on a machine with 2 cores. */
export const bar = { medianMs: 50, worstMs: 500 } as const

/** Latencies of the innocent tenant's webhook, in milliseconds. */
export interface Latency {
  readonly medianMs: number
  readonly worstMs: number
}

export interface Measurement {
  /** Without an attack, just before it. */
  readonly idle: Latency
  readonly attacked: Latency
  /** Webhooks during the attack and shortly after. */
  readonly webhooks: number
  /** Webhooks, events and ticks of the innocent tenant that were lost, answered wrong or repeated. */
  readonly losses: ReadonlyArray<string>
  /** Longest time from publishing an event to the end of its run. */
  readonly slowestEventMs: number
  /** Maximum delay of the measuring client itself. */
  readonly clientLagMs: number
  readonly server: ServerFigures
  /** True if the server did not survive. */
  readonly isServerGone: boolean
  /** Answers to the attacker; null if the attack did not stop at its end. */
  readonly answers: Readonly<Record<string, number>> | null
}

/** Returns the latencies of the samples; of none, both are infinite. */
export const toLatency = (samples: ReadonlyArray<Sample>): Latency => {
  const sorted = samples.map(({ ms }) => ms).sort((a, b) => a - b)
  return {
    medianMs: sorted[Math.floor(sorted.length / 2)] ?? Number.POSITIVE_INFINITY,
    worstMs: sorted.at(-1) ?? Number.POSITIVE_INFINITY
  }
}

/** Lists what a shape violates; empty if it holds. */
export const judge = (shape: Shape, measured: Measurement): ReadonlyArray<string> => {
  const { idle, attacked, losses, isServerGone, answers } = measured
  const violations: Array<string> = []
  if (isServerGone) violations.push("the server exited")
  if (idle.medianMs > bar.medianMs || idle.worstMs > bar.worstMs)
    violations.push("the machine was too busy to measure: the bar was missed before the attack")
  if (attacked.medianMs > bar.medianMs)
    violations.push(overBar("median", attacked.medianMs, bar.medianMs, idle.medianMs))
  if (attacked.worstMs > bar.worstMs) violations.push(overBar("slowest", attacked.worstMs, bar.worstMs, idle.worstMs))
  const [example] = losses
  if (example !== undefined) violations.push(`${losses.length} lost, such as: ${example}`)
  return [...violations, ...judgeAnswers(shape, answers)]
}

const overBar = (which: string, ms: number, maximum: number, idleMs: number): string =>
  `the innocent webhook's ${which} answer took ${round(ms)} ms, at most ${maximum} ms are allowed (${round(idleMs)} ms idle)`

const round = (ms: number): string => (Number.isFinite(ms) ? ms.toFixed(ms < 10 ? 1 : 0) : "infinitely many")

/** An attack without an answer did not reach the server, and its measurement proves nothing. */
const judgeAnswers = ({ sees }: Shape, answers: Measurement["answers"]): ReadonlyArray<string> => {
  if (answers === null) return ["the attack did not stop at its end"]
  const seen = Object.entries(answers)
  if (seen.length === 0) return ["the attack got no answer, so it did not reach the server"]
  const allowed = new Set(sees.map(String))
  return seen.flatMap(([answer, count]) =>
    allowed.has(answer) ? [] : [`the attacker saw ${answer} ${count} times, allowed are ${sees.join(", ")}`]
  )
}
