import type { FromRunner } from "../protocol/FromRunner.ts"
import type { RunnerLimits } from "../protocol/RunnerLimits.ts"
import type { CryptoQueue } from "./crypto/CryptoQueue.ts"
import type { GuestIsolate } from "./GuestIsolate.ts"
import type { KernelScript } from "./KernelScript.ts"

/** The parts of the engine that an isolate uses. */
export interface EngineContext {
  readonly limits: RunnerLimits
  readonly guest: KernelScript
  readonly crypto: CryptoQueue
  /** Sends a message of the isolate with this id. */
  readonly send: (isolate: number, message: FromRunner) => void
  /** Requests permission to compute; the engine calls `enter` when it grants it. */
  readonly admit: (isolate: GuestIsolate) => void
  /** Returns the permission to compute. */
  readonly exited: (isolate: GuestIsolate) => void
  readonly removed: (isolate: GuestIsolate) => void
}
