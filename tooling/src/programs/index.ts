export { commandLine } from "./CommandLine.ts"
export { builtProgram } from "./Kept.ts"
export { referenceServer } from "./ReferenceServer.ts"
