/** Runs functions in plain tests, without a server. */

export type { Warning } from "./durable/ActivationHost.ts"
export type { CrashOptions, CrashReport } from "./durable/CrashCheck.ts"
export type * from "./durable/DurableKit.ts"
export type { HistoryEntry, Waiting } from "./durable/History.ts"
export { testDurable } from "./durable/testDurable.ts"
export { testEnv } from "./environment.ts"
export type { Failure } from "./failures.ts"
export type { Contents } from "./MemoryFiles.ts"
export type { SvcFakes } from "./operations.ts"
export type * from "./Records.ts"
export type { TestRequest } from "./requests.ts"
export type * from "./TestEnv.ts"
