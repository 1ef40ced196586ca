/** A coverage-guided fuzzer for code that reads untrusted input. A target defines its grammar and its invariants. */
export type { Draws } from "../draws/Draws.ts"
export { type Target, textOf, utf8 } from "./Target.ts"
export { fuzzed, type LongForm } from "./vitest.ts"
