/** Inputs of strangers, made up: targets say what must hold, and the loop looks for what does not. */
export { type Draws, draws } from "../draws/Draws.ts"
export { type Target, textOf, utf8, type Verdict } from "./Target.ts"
export { fuzzed, type LongForm, type Report } from "./vitest.ts"
