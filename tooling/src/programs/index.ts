export { commandLine } from "./CommandLine.ts"
export { builtProgram } from "./ProgramCache.ts"
export { referenceServer } from "./ReferenceServer.ts"
