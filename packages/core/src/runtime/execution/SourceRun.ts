/** The additional parts of a run of source text: its bundle, and what its code may do. */
import type { Effect } from "effect"
import type { Outcome } from "../../platform/sandbox/Outcome.ts"
import type { BundleRef, HostCall, HostCallRefused } from "../../platform/sandbox/Sandbox.ts"
import type { Identity } from "../../tenants/access/Caller.ts"
import type { LogEntry, RunType } from "../runs/Run.ts"

export interface SourceRun {
  readonly run_type: Extract<RunType, "eval" | "repl">
  readonly bundle: BundleRef
  /** Identity with the rights of the code. */
  readonly rights: Identity
  /**
   * Decides about each call of the code: returns the answer, or the call that the table of operations answers, which may
   * be a changed one. Without it, the table answers all calls.
   */
  readonly gate?: (call: HostCall) => HostCall | Effect.Effect<string, HostCallRefused>
  /** Converts the outcome of the program to that of the run. Called once. */
  readonly toOutcome?: (outcome: Outcome) => Outcome
  /** Called for each log entry of the code, with the secrets that must be masked in it. */
  readonly onLog?: (entry: LogEntry, secrets: ReadonlySet<string>) => void
}
