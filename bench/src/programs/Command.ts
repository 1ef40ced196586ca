/** Messages between a suite and a program: JSON texts over the IPC channel. */
import type { ProgramOptions } from "./JobProgram.ts"

export type Measurement = JobMeasurement | WorkflowMeasurement

/** Measurements of `Driver`. */
type JobMeasurement =
  /** Jobs published one by one by concurrent publishers, for `seconds` or up to `jobsMax`. */
  | { readonly kind: "oneByOne"; readonly publishers: number; readonly seconds: number; readonly jobsMax: number }
  /** Jobs published in batches, one batch after the other; `jobs` is a multiple of `batch`. */
  | { readonly kind: "bulk"; readonly jobs: number; readonly batch: number }
  /** Sequential jobs, each when the system is idle again. */
  | { readonly kind: "latency"; readonly samples: number }
  /** Sequential flows, then `atOnce` concurrent flows. */
  | { readonly kind: "flows"; readonly samples: number; readonly atOnce: number; readonly seconds: number }

/** Measurements of `WorkflowDriver`. */
type WorkflowMeasurement =
  /** Workflows of sequential steps; each client starts its next one when the previous one has ended. */
  | { readonly kind: "sequences"; readonly steps: number; readonly clients: number; readonly seconds: number }
  /** Workflows of concurrent steps, one workflow after the other. */
  | { readonly kind: "fanOut"; readonly steps: number; readonly samples: number }
  /** Suspended workflows with `steps` stored steps that continue by a signal, one after the other. */
  | { readonly kind: "resume"; readonly steps: number; readonly samples: number }
  /** `count` sleeping workflows, whose times are spread evenly. */
  | { readonly kind: "sleepers"; readonly count: number; readonly spreadSeconds: number }
  /** Events while there are `waiting` suspended workflows, then `samples` sequential and `woken` concurrent signals. */
  | {
      readonly kind: "signals"
      readonly waiting: number
      readonly seconds: number
      readonly samples: number
      readonly woken: number
    }

/** A command; the next one is sent after the response. */
export type Command = Measurement | { readonly kind: "close" }

export type Figures = Readonly<Record<string, number>>

export type Answer =
  | { readonly kind: "ready"; readonly settings: Readonly<Record<string, string>> }
  | { readonly kind: "measured"; readonly figures: Figures }
  | { readonly kind: "failed"; readonly reason: string }

/** The first argument of a program. */
export const encodeOptions = (options: ProgramOptions): string => JSON.stringify(options)
export const decodeOptions = (text: string | undefined): ProgramOptions => JSON.parse(text ?? "{}")
