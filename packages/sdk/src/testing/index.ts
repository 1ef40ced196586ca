/** Runs functions in plain tests, without a server. */
export { testEnv } from "./environment.ts"
export type { Failure } from "./failures.ts"
export type { Contents } from "./MemoryFiles.ts"
export type { SvcFakes } from "./operations.ts"
export type * from "./Records.ts"
export type { TestRequest } from "./requests.ts"
export type * from "./TestEnv.ts"
