/** A fuzz target: code that reads untrusted input, and its invariants. */
import type { Draws } from "../draws/Draws.ts"

/** Result of a target for an input. Both are correct. A target with only one of them does not test anything. */
export type Verdict = "taken" | "refused"

export interface Target {
  /** Name of the target and of the folder of its corpus in `proof/corpora`. */
  readonly name: string
  /** Generates an input by the grammar of the target, valid or deliberately invalid. */
  readonly generate: (draws: Draws) => Uint8Array
  /** Tokens of the format, which mutations insert. */
  readonly words?: ReadonlyArray<string | Uint8Array>
  /** A mutation that knows the format. Returns null if it does not apply to the input. */
  readonly mutate?: (input: Uint8Array, draws: Draws) => Uint8Array | null
  /** Throws if an invariant is violated. */
  readonly run: (input: Uint8Array) => Verdict | Promise<Verdict>
  /** Timeout per input, in milliseconds; default 2000. */
  readonly limitMs?: number
  /** Maximum length in bytes; longer inputs are truncated. Default 64 KiB. */
  readonly bytesMax?: number
  /** URLs of scripts whose coverage guides the fuzzer, in addition to the sources of the repository. */
  readonly covers?: RegExp
  /** False if coverage cannot guide the fuzzer, because much code runs that does not depend on the input. Default true. */
  readonly isGuided?: boolean
}

export const utf8 = (text: string): Uint8Array => Buffer.from(text, "utf8")

export const textOf = (input: Uint8Array): string =>
  Buffer.from(input.buffer, input.byteOffset, input.byteLength).toString("utf8")
