/** Limits of guest code (decisions section 9, `design` figures). Each name contains the unit. */
import { Schema } from "effect"

const positive = Schema.Int.check(Schema.isGreaterThan(0))

export const Limits = Schema.Struct({
  /** V8 heap of one isolate. */
  heapBytes: positive,
  /** Array buffers of one isolate, which V8 keeps outside the heap. */
  bufferBytes: positive,
  /** Computing without a pause. */
  cpuSliceMs: positive,
  /** Compiling a bundle, at deploy. */
  compileMs: positive,
  /** Loading a bundle, at deploy and when an isolate starts. */
  loadMs: positive,
  pendingHostCalls: positive,
  pendingTimers: positive,
  /** JSON text of one argument or result of a host call. */
  hostCallBytes: positive,
  /** Return value of a function, as JSON text. */
  resultBytes: positive,
  /** Log lines of one run, as JSON text. */
  logBytes: positive,
  /** Data of one run that `crypto.subtle` processes at once. */
  cryptoBytes: positive,
  /** RSA keys that are generated. Keys of twice the size can be imported. */
  cryptoRsaBits: positive,
  /** Iterations of PBKDF2, times the blocks of the hash in its output. */
  cryptoRounds: positive,
  /** Processor time of one operation of `crypto.subtle`. It cannot be stopped, so its runner is replaced. */
  cryptoMs: positive,
  /** Concurrent invocations of one build in one isolate; more wait. */
  concurrentRuns: positive,
  /** The zip of a build. */
  archiveBytes: positive,
  /** All files of a build, unpacked. */
  unpackedBytes: positive,
  /** Files in a build. */
  archiveEntries: positive,
  /** Names and `meta` of all exported functions of a bundle, as JSON text. */
  exportsBytes: positive,
  /** Functions with `meta` that a bundle may export. */
  functionsWithMeta: positive
})
export type Limits = typeof Limits.Type

const MiB = 1024 * 1024

export const defaultLimits: Limits = {
  heapBytes: 128 * MiB,
  bufferBytes: 64 * MiB,
  cpuSliceMs: 500,
  compileMs: 10_000,
  loadMs: 10_000,
  pendingHostCalls: 1000,
  pendingTimers: 1000,
  hostCallBytes: MiB,
  resultBytes: MiB,
  logBytes: MiB,
  cryptoBytes: 16 * MiB,
  cryptoRsaBits: 4096,
  cryptoRounds: 2_000_000,
  cryptoMs: 10_000,
  concurrentRuns: 1000,
  archiveBytes: 50 * MiB,
  unpackedBytes: 200 * MiB,
  archiveEntries: 10_000,
  exportsBytes: MiB,
  functionsWithMeta: 1000
}
