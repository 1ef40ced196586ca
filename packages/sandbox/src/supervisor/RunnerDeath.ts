/** Causes of the death of a runner. */
import type { Outcome } from "@weft/core/adapter"

/**
 * - `unstarted`: the process did not start.
 * - `crashed`: it ended with an error of its own.
 * - `killed`: a signal from outside ended it, such as that of the kernel when memory runs out.
 * - `silent`: the watchdog killed it because it sent no heartbeat.
 * - `memory`: the watchdog killed it because it exceeded its memory.
 * - `blocked`: it was replaced because a thread in it could not be stopped.
 * - `protocol`: it was killed because its messages were invalid, or because it did not read those of the host.
 */
export const deathCauses = ["unstarted", "crashed", "killed", "silent", "memory", "blocked", "protocol"] as const

export type DeathCause = (typeof deathCauses)[number]

export interface RunnerDeath {
  /** `retired`: the host no longer needed the process. */
  readonly cause: DeathCause | "retired"
  /** For log messages. */
  readonly why: string
}

/** Signals by which the system or an operator ends a process. No fault of the program itself causes them. */
const outsideSignals: ReadonlySet<NodeJS.Signals> = new Set(["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"])

/** Returns the death of a process that ended on its own. */
export const toDeath = (code: number | null, signal: NodeJS.Signals | null): RunnerDeath => ({
  cause: signal !== null && outsideSignals.has(signal) ? "killed" : "crashed",
  why: `it ended with ${signal ?? `code ${code}`}`
})

/** The reason for which the host kills a runner. */
export interface Termination {
  readonly cause: DeathCause
  /** For log messages. */
  readonly why: string
  /** Outcome of the computing jobs. */
  readonly outcome: Outcome
  /** True if the runner used no processor, so that no build has to be at fault. */
  readonly wasIdle: boolean
}
