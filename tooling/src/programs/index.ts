export { commandLine } from "./CommandLine.ts"
export { consoleApp } from "./ConsoleApp.ts"
export { builtProgram } from "./ProgramCache.ts"
export { referenceServer } from "./ReferenceServer.ts"
