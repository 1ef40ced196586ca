export { type SandboxOptions, sandbox } from "./Isolated.ts"
