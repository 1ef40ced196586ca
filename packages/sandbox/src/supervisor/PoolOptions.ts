/** Options of a pool of runners. */
import type { Limits, Quarantine, WorkScheduler } from "@weft/core/adapter"
import type { RunnerLimits } from "../protocol/RunnerLimits.ts"
import type { Build } from "./Build.ts"
import type { GuestScripts } from "./GuestScript.ts"
import type { MemoryBudgetOptions } from "./MemoryBudget.ts"
import type { StrikesOptions } from "./Strikes.ts"

export interface PoolOptions extends MemoryBudgetOptions, StrikesOptions {
  readonly limits: Limits
  readonly runnerLimits: RunnerLimits
  readonly guestScripts: GuestScripts
  readonly runners: number
  /** Shares the event loop between the host calls and outcomes of environments. */
  readonly turns: WorkScheduler
  /** Program of the runner; only tests set it. */
  readonly runnerProgram?: URL
  /** Invocations after which an isolate is replaced. */
  readonly callsPerIsolate: number
  /** Maximum queued jobs per build. */
  readonly queuedPerBuild: number
  /** Maps a guest's stack trace to the author's sources. */
  readonly mapStack: (build: Build, stack: string) => string
  /** Writes a warning to the host's log. */
  readonly report: (message: string) => void
  /** Called for each build that comes under quarantine. */
  readonly onQuarantine: (quarantine: Quarantine) => void
}
