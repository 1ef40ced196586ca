/** The bounds of guest code (decisions section 9, `design` figures). Each has its unit in its name. */
import { Schema } from "effect"

const positive = Schema.Int.check(Schema.isGreaterThan(0))

export const Limits = Schema.Struct({
  /** V8 heap of one isolate. */
  heapBytes: positive,
  /** Array buffers of one isolate, which V8 keeps outside the heap. */
  bufferBytes: positive,
  /** One stretch of computing without a pause. */
  cpuSliceMs: positive,
  /** Compiling a bundle, at deploy. */
  compileMs: positive,
  /** Loading a bundle, at deploy and when an isolate starts. */
  loadMs: positive,
  pendingHostCalls: positive,
  pendingTimers: positive,
  /** The JSON text of one argument or answer of a host call. */
  hostCallBytes: positive,
  /** What a function may return, as JSON text. */
  resultBytes: positive,
  /** Log lines of one run, as JSON text. */
  logBytes: positive,
  /** Invocations of one build that run at once in one isolate; more wait. */
  concurrentRuns: positive,
  /** The zip of a build. */
  archiveBytes: positive,
  /** All files of a build, unpacked. */
  unpackedBytes: positive,
  /** Files in a build. */
  archiveEntries: positive,
  /** All that a bundle says of its exports: names and `meta` of its functions, as JSON text. */
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
  concurrentRuns: 1000,
  archiveBytes: 50 * MiB,
  unpackedBytes: 200 * MiB,
  archiveEntries: 10_000,
  exportsBytes: MiB,
  functionsWithMeta: 1000
}
