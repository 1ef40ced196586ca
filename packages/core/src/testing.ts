/** The entry point for tests: in-memory stores and a sandbox that runs trusted code in the same process. */
export { MemoryStores } from "./memory/MemoryStores.ts"
export { type TrustedFunction, type TrustedModule, trustedSandbox, trustedZip } from "./memory/TrustedSandbox.ts"
export type { TrustedSvc } from "./memory/TrustedSvc.ts"
