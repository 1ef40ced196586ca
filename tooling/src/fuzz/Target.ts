/** Something that reads what strangers send, with what must hold whatever they send. */
import type { Draws } from "../draws/Draws.ts"

/** Whether the input counted as what it claimed to be. Both are fine; only refusals, or none, say that nothing is tried. */
export type Verdict = "taken" | "refused"

export interface Target {
  /** Also the folder of its corpus in `bench/corpora`. */
  readonly name: string
  /** An input that is right, or wrong on purpose, by the grammar of the target. */
  readonly generate: (draws: Draws) => Uint8Array
  /** Texts and bytes that mean something to it, for mutations. */
  readonly words?: ReadonlyArray<string | Uint8Array>
  /** A spoiling of its own, for what blind ones would hardly come upon; null where it has none for this input. */
  readonly mutate?: (input: Uint8Array, draws: Draws) => Uint8Array | null
  /** Throws where something does not hold. */
  readonly run: (input: Uint8Array) => Verdict | Promise<Verdict>
  /** How long one input may take, in milliseconds; default 2000. */
  readonly limitMs?: number
  /** Inputs longer than this are cut, in bytes; default 64 KiB. */
  readonly bytesMax?: number
  /** Scripts whose coverage guides, beside the repository's own. */
  readonly covers?: RegExp
  /** Whether coverage says anything: not where much runs that an input did not bring about. Default true. */
  readonly isGuided?: boolean
}

export const utf8 = (text: string): Uint8Array => Buffer.from(text, "utf8")

export const textOf = (input: Uint8Array): string =>
  Buffer.from(input.buffer, input.byteOffset, input.byteLength).toString("utf8")
