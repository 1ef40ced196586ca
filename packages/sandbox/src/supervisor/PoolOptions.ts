/** What a pool of runners is made with. */
import type { Limits } from "@weft/core"
import type { RunnerLimits } from "../protocol/RunnerLimits.ts"
import type { Build } from "./Build.ts"
import type { RoomOptions } from "./Room.ts"

export interface PoolOptions extends RoomOptions {
  readonly limits: Limits
  readonly runnerLimits: RunnerLimits
  readonly guestScript: string
  readonly runners: number
  /** What runs in a runner; only tests have another one than ours. */
  readonly runnerProgram?: URL
  readonly strikes: number
  /** Invocations after which an isolate is replaced. */
  readonly callsPerIsolate: number
  /** Jobs of one build that may wait, for others of it to end or for room. */
  readonly waitingPerBuild: number
  /** Turns a guest's stack trace into one of the author's sources. */
  readonly mapStack: (build: Build, stack: string) => string
  /** Notes for the host's own log. */
  readonly report: (message: string) => void
}
