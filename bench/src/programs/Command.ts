/** Messages between a suite and a program: JSON texts over the IPC channel. */
import type { ProgramOptions } from "./JobProgram.ts"

export type Measurement =
  /** Jobs published one by one by concurrent publishers, for `seconds` or up to `jobsMax`. */
  | { readonly kind: "oneByOne"; readonly publishers: number; readonly seconds: number; readonly jobsMax: number }
  /** Jobs published in batches, one batch after the other; `jobs` is a multiple of `batch`. */
  | { readonly kind: "bulk"; readonly jobs: number; readonly batch: number }
  /** Sequential jobs, each when the system is idle again. */
  | { readonly kind: "latency"; readonly samples: number }
  /** Sequential flows, then `atOnce` concurrent flows. */
  | { readonly kind: "flows"; readonly samples: number; readonly atOnce: number; readonly seconds: number }

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
