/** What a suite tells a program to measure, and what it hears; JSON texts over the channel of the process. */
import type { ProgramOptions } from "./JobProgram.ts"

export type Measurement =
  /** Jobs published one by one by so many publishers, for so long or until there are so many. */
  | { readonly kind: "oneByOne"; readonly publishers: number; readonly seconds: number; readonly jobsMax: number }
  /** Jobs published in batches, one batch after the other; `jobs` is a multiple of `batch`. */
  | { readonly kind: "bulk"; readonly jobs: number; readonly batch: number }
  /** Jobs one after the other, each when the system is idle again. */
  | { readonly kind: "latency"; readonly samples: number }
  /** Flows one after the other, then so many at once. */
  | { readonly kind: "flows"; readonly samples: number; readonly atOnce: number; readonly seconds: number }

/** One at a time: the next when the one before was answered. */
export type Command = Measurement | { readonly kind: "close" }

export type Figures = Readonly<Record<string, number>>

export type Answer =
  | { readonly kind: "ready"; readonly settings: Readonly<Record<string, string>> }
  | { readonly kind: "measured"; readonly figures: Figures }
  | { readonly kind: "failed"; readonly reason: string }

/** The first argument of a program. */
export const encodeOptions = (options: ProgramOptions): string => JSON.stringify(options)
export const decodeOptions = (text: string | undefined): ProgramOptions => JSON.parse(text ?? "{}")
